// One name, two layouts, as of a header in two versions: each object is right, the program is not.
struct Options {
    int streams = 1;
#if PART == 2
    int graphs = 2;
#endif
    int device = 3;
};

int device(const Options& options);

#if PART == 1
int device(const Options& options) { return options.device; }
#else
int main() { return device(Options{}) != 3; }
#endif
