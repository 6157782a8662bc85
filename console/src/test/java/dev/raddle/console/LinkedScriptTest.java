package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class LinkedScriptTest {

    private static String link(Map<String, String> modules) throws Exception {
        return LinkedScript.of("main.js", name -> Objects.requireNonNull(modules.get(name), name));
    }

    @Test
    void each_module_follows_those_that_it_imports_and_is_there_once() throws Exception {
        String script = link(Map.of(
                "main.js", "import { a } from './a.js';\nimport * as b from './lib/b.js';\nb.show(a);\n",
                "a.js", "// The first.\nimport { c as d } from './lib/c.js';\nexport const a = d + 1;\n",
                "lib/b.js", "import{c as x}from\"./c.js\";function f(v){g(v,x)}export{f as show};\n",
                "lib/c.js", "export const c = 1;\n"));

        assertThat(script).isEqualTo("""
                        'use strict';
                        const modules = {};
                        modules['lib/c.js'] = (() => {
                        const c = 1;

                        return { c };
                        })();
                        modules['a.js'] = (() => {
                        const { c: d } = modules['lib/c.js'];
                        const a = d + 1;

                        return { a };
                        })();
                        modules['lib/b.js'] = (() => {
                        const {c: x} = modules['lib/c.js'];
                        function f(v){g(v,x)}

                        return { show: f };
                        })();
                        modules['main.js'] = (() => {
                        const { a } = modules['a.js'];
                        const b = modules['lib/b.js'];
                        b.show(a);

                        return {  };
                        })();
                        """);
    }

    @Test
    void a_default_and_what_is_exported_again_are_properties_too() throws Exception {
        String script = link(Map.of(
                "main.js",
                        "import one from './one.js';\nexport { x, y as z } from './two.js';\n"
                                + "export async function f() {}\n",
                "one.js", "export default function(n){return n}",
                "two.js", "const x=1,y=2;export{x,y};"));

        assertThat(script)
                .contains("const exported = function(n){return n}\nreturn { default: exported };")
                .contains("const one = modules['one.js'].default;\n\nasync function f() {}\n")
                .contains("return { x: modules['two.js'].x, z: modules['two.js'].y, f };");
    }

    @Test
    void what_it_does_not_understand_is_refused() {
        assertThatThrownBy(() -> link(Map.of("main.js", "const a = 1;\nexport class A {}\n")))
                .hasMessage("the module main.js has an import or export that is not understood");
        assertThatThrownBy(() -> link(Map.of("main.js", "const a = '</script>';\n")))
                .hasMessage("the module main.js has an import or export that is not understood");
        assertThatThrownBy(() -> link(
                        Map.of("main.js", "import { a } from './a.js';\n", "a.js", "import { b } from './main.js';\n")))
                .hasMessage("modules must not import each other: [main.js, a.js], main.js");
    }
}
