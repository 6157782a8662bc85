/** What is known about words. */
module words {
    exports words;
}
