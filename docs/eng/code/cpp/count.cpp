// A header with a static variable, compiled into two libraries from two versions of it.
#ifdef VERSION
inline int& registry() {
    static int value = VERSION;
    return value;
}
extern "C" __attribute__((visibility("default"))) int version() { return registry(); }
#endif
