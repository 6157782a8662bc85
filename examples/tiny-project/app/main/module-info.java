/** A program that reverses words. */
module app {
    requires words;
}
