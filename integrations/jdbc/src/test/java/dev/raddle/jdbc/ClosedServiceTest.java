package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A closed service retains nothing of the application that used it: its class loader is collected. */
@Timeout(120)
class ClosedServiceTest {

    private static final int COLLECTIONS = 100;

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    /** Loads the classes of the program, as the class loader of an application in a container does. */
    private static final class ApplicationLoader extends ClassLoader {

        ApplicationLoader() {
            super(ClosedServiceTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(FlowProgram.class.getName())) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = FlowProgram.class.getResourceAsStream("FlowProgram.class")) {
                byte[] code = in.readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (IOException failure) {
                throw new ClassNotFoundException(name, failure);
            }
        }
    }

    @SuppressWarnings("unchecked")
    private WeakReference<ClassLoader> loaderOfProgram() throws Exception {
        ApplicationLoader loader = new ApplicationLoader();
        Class<?> program = loader.loadClass(FlowProgram.class.getName());
        assertThat(program.getClassLoader()).isSameAs(loader);
        ((Consumer<DataSource>) program.getConstructor().newInstance()).accept(database.pool());
        return new WeakReference<>(loader);
    }

    @Test
    void the_class_loader_of_an_application_is_collected_after_its_service_has_closed() throws Exception {
        WeakReference<ClassLoader> loader = loaderOfProgram();
        for (int i = 0; i < COLLECTIONS && !loader.refersTo(null); i++) {
            System.gc();
        }
        assertThat(loader.refersTo(null)).isTrue();
    }
}
