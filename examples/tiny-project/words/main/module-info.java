/** Functions of words. */
module words {
    exports words;
}
