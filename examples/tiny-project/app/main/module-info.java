/** A program that turns words around. */
module app {
    requires words;
}
