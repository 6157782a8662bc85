package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A closed service retains nothing of the application that used it: its class loader is collected. */
class ClosedServicesTest {

    private static final int COLLECTIONS = 100;

    /** Loads one class, as the class loader of an application in a container does. */
    private static final class ApplicationLoader extends ClassLoader {

        ApplicationLoader() {
            super(ClosedServicesTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(ServiceProgram.class.getName())) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = ServiceProgram.class.getResourceAsStream("ServiceProgram.class")) {
                byte[] code = in.readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (IOException failure) {
                throw new ClassNotFoundException(name, failure);
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static WeakReference<ClassLoader> loaderOf(String service) throws Exception {
        ApplicationLoader loader = new ApplicationLoader();
        Class<?> program = loader.loadClass(ServiceProgram.class.getName());
        assertThat(program.getClassLoader()).isSameAs(loader);
        ((Consumer<String>) program.getConstructor().newInstance()).accept(service);
        return new WeakReference<>(loader);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "group executor",
                "executor with rates",
                "executor that is shut down at once",
                "pool",
                "scope",
                "structured scope",
                "flow run"
            })
    void the_class_loader_of_an_application_is_collected_after_it_has_closed(String service) throws Exception {
        WeakReference<ClassLoader> loader = loaderOf(service);
        for (int i = 0; i < COLLECTIONS && !loader.refersTo(null); i++) {
            System.gc();
        }
        assertThat(loader.refersTo(null)).isTrue();
    }
}
