/** A program that uses groups, scopes, flows and a pool. */
module program {
    requires dev.raddle;

    exports program;

    uses program.Greeting;

    provides program.Greeting with
            program.Hello;
}
