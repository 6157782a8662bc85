package dev.raddle.lock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Finds the handles of fields that change by atomic steps. */
public final class Fields {

    private Fields() {}

    /**
     * Returns the handle of a field, for a {@code static final} field of its class.
     *
     * @param owner the lookup of the class that declares the field
     * @param name the name of the field
     * @param type the type of the field
     * @return the handle
     */
    public static VarHandle handle(MethodHandles.Lookup owner, String name, Class<?> type) {
        try {
            return owner.findVarHandle(owner.lookupClass(), name, type);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }
}
