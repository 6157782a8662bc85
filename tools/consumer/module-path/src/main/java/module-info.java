/** A program with Raddle on the module path. */
module consumer {
    requires dev.raddle;
}
