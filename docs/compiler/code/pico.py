"""Pico: a language for arithmetic functions, compiled by LLVM. Ends with 77 without llvmlite.

    python3 docs/compiler/code/pico.py          what the passes do, a run, and code for two GPUs
    python3 docs/compiler/code/pico.py ir       the IR of `root`: emitted, after sroa, after O2
    python3 docs/compiler/code/pico.py gpu      PTX and AMD assembly of `scale`

Values are doubles, loop counters 64-bit integers, `x[]` is an array of doubles. `each` promises
that its turns do not depend on each other: a loop on a CPU, one thread per turn on a GPU.
"""

import ctypes
import re
import sys

try:
    import llvmlite
    from llvmlite import binding as llvm
    from llvmlite import ir
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

SOURCE = """
fun square(x) { return x * x }
fun root(a) {                        # Newton's method, twenty turns
  x = a
  if a < 1 { x = 1 }
  for i < 20 { x = (x + a / x) / 2 }
  return x
}
fun sum(n, x[]) { s = 0   for i < n { s = s + x[i] }   return s }
fun scale(n, a, b, x[], y[]) { each i < n { y[i] = x[i] * (a / b) + square(a) } }
"""
F64, I64, I32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
GPUS = {  # triple, processor, calling convention, index of the group, index in the group
    "nvidia": ("nvptx64-nvidia-cuda", "sm_90", "ptx_kernel",
               "llvm.nvvm.read.ptx.sreg.ctaid.x", "llvm.nvvm.read.ptx.sreg.tid.x"),
    "amd": ("amdgcn-amd-amdhsa", "gfx942", "amdgpu_kernel",
            "llvm.amdgcn.workgroup.id.x", "llvm.amdgcn.workitem.id.x"),
}  # fmt: skip
GROUP = 256  # threads in a group
TOKEN = re.compile(r"\s*(?:#[^\n]*\n\s*)*(\d+\.\d*|\d+|\w+|\S)")


class Compiler:
    """From text to IR in one pass: each rule of the grammar is a method that emits as it reads."""

    def __init__(self, text, gpu=None, fast=False, apart=False):
        self.tokens = [*TOKEN.findall(text), ""]
        self.module, self.gpu = ir.Module("pico"), GPUS.get(gpu)
        self.flags = ("reassoc", "nsz") if fast else ()
        self.apart = apart  # promise that arrays do not overlap
        while self.tokens[0]:
            self.function()

    def take(self, wanted=None):
        token = self.tokens.pop(0)
        if wanted not in (None, token):
            sys.exit(f"expected {wanted!r}, found {token!r}")
        return token

    def have(self, wanted):
        return self.tokens[0] == wanted and bool(self.tokens.pop(0))

    def function(self):
        self.take("fun")
        name, names, types = self.take(), [], []
        self.take("(")
        while not self.have(")"):
            names.append(self.take())
            array = self.have("[") and self.take("]")
            types.append(ir.PointerType(addrspace=1 if self.gpu else 0) if array else F64)
            self.have(",")
        result = F64 if self.returns() else ir.VoidType()
        made = ir.Function(self.module, ir.FunctionType(result, types), name)
        if self.gpu and isinstance(result, ir.VoidType):
            made.calling_convention = self.gpu[2]
        self.entry = made.append_basic_block("entry")
        self.at, self.slots = ir.IRBuilder(self.entry), {}
        for name, argument in zip(names, made.args, strict=True):
            argument.name = name
            if argument.type is F64:
                self.store(name, argument)
            else:
                self.slots[name] = argument
                if self.apart:
                    argument.add_attribute("noalias")
        self.block()
        if not self.at.block.is_terminated:
            self.at.ret_void()

    def returns(self):
        """Whether this function's text, up to its last bracket, has a `return`."""
        depth = 0
        for at, token in enumerate(self.tokens):
            depth += (token == "{") - (token == "}")
            if not depth:
                return "return" in self.tokens[:at]
        sys.exit("a bracket is not closed")

    # --8<-- [start:slot]
    def store(self, name, value):
        """Into the slot of a variable: memory on the stack, asked for in the first block."""
        if name not in self.slots:
            with self.at.goto_block(self.entry):
                if self.entry.instructions:
                    self.at.position_at_start(self.entry)
                self.slots[name] = self.at.alloca(value.type, name=name)
        self.at.store(value, self.slots[name])

    # --8<-- [end:slot]

    def block(self):
        self.take("{")
        while not self.have("}"):
            self.statement()

    def statement(self):
        word = self.take()
        if word == "return":
            self.at.ret(self.real(self.sum()))
        elif word == "if":
            with self.at.if_then(self.less(self.sum())):
                self.block()
        elif word == "each" and self.gpu:
            group, item = (self.at.call(self.outside(name), []) for name in self.gpu[3:])
            index = self.at.add(self.at.mul(group, ir.Constant(I32, GROUP)), item)
            name = self.take()
            self.store(name, self.at.zext(index, I64))
            with self.at.if_then(self.less(self.load(name))):
                self.block()
        elif word in ("for", "each"):
            self.loop(self.take())
        else:
            place = self.element(word) if self.have("[") else None
            self.take("=")
            value = self.real(self.sum())
            if place:
                self.at.store(value, place)
            else:
                self.store(word, value)

    # --8<-- [start:loop]
    def loop(self, name):
        test, body, after = (self.at.append_basic_block(n) for n in ("test", "body", "after"))
        self.store(name, ir.Constant(I64, 0))
        self.at.branch(test)
        self.at.position_at_end(test)
        self.at.cbranch(self.less(self.load(name)), body, after)
        self.at.position_at_end(body)
        self.block()
        self.store(name, self.at.add(self.load(name), ir.Constant(I64, 1)))
        self.at.branch(test)
        self.at.position_at_end(after)

    # --8<-- [end:loop]

    def load(self, name):
        return self.at.load(self.slots[name], typ=self.slots[name].allocated_type)

    def less(self, left):
        self.take("<")
        right = self.sum()
        if left.type is I64:  # a counter against its limit
            right = right if right.type is I64 else self.at.fptosi(right, I64)
            return self.at.icmp_signed("<", left, right)
        return self.at.fcmp_ordered("<", left, self.real(right))

    def real(self, value):
        if value.type is F64:
            return value
        constant = isinstance(value, ir.Constant)
        return ir.Constant(F64, value.constant) if constant else self.at.sitofp(value, F64)

    def sum(self):
        value = self.product()
        while self.tokens[0] in "+-" and self.tokens[0]:
            value = self.binary(self.take(), value, self.product())
        return value

    def product(self):
        value = self.atom()
        while self.tokens[0] in "*/" and self.tokens[0]:
            value = self.binary(self.take(), value, self.atom())
        return value

    def binary(self, sign, left, right):
        if sign != "/" and left.type is right.type is I64:
            return {"+": self.at.add, "-": self.at.sub, "*": self.at.mul}[sign](left, right)
        make = {"+": self.at.fadd, "-": self.at.fsub, "*": self.at.fmul, "/": self.at.fdiv}[sign]
        return make(self.real(left), self.real(right), flags=self.flags)

    def atom(self):
        token = self.take()
        if token == "(":
            value = self.sum()
            self.take(")")
            return value
        if token == "-":
            return self.binary("-", ir.Constant(I64, 0), self.atom())
        if token[0].isdigit():
            whole = token.isdigit()
            return ir.Constant(I64, int(token)) if whole else ir.Constant(F64, float(token))
        if self.have("("):
            values = []
            while not self.have(")"):
                values.append(self.real(self.sum()))
                self.have(",")
            return self.at.call(self.module.get_global(token), values)
        return self.at.load(self.element(token), typ=F64) if self.have("[") else self.load(token)

    def element(self, array):
        index = self.sum()
        self.take("]")
        index = index if index.type is I64 else self.at.fptosi(index, I64)
        return self.at.gep(self.slots[array], [index], source_etype=F64)

    def outside(self, name):
        known = self.module.globals.get(name)
        return known or ir.Function(self.module, ir.FunctionType(I32, []), name)


def machine(triple="x86_64-unknown-linux-gnu", cpu="x86-64-v3"):
    return llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=2)


def optimised(compiler, passes, target):
    """The module after single passes of a list, or after the whole pipeline of a level."""
    module = llvm.parse_assembly(str(compiler.module))
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.loop_interleaving = passes == "O2"
    builder = llvm.create_pass_builder(target, options)
    if compiler.gpu:  # before the target is known: AMD wants stack slots in another address space
        early = llvm.create_new_module_pass_manager()
        early.add_sroa_pass()
        early.run(module, builder)
    module.triple, module.data_layout = target.triple, str(target.target_data)
    module.verify()
    if isinstance(passes, str):
        builder.getModulePassManager().run(module, builder)
        return module
    for name in passes:
        manager = llvm.create_new_module_pass_manager()
        getattr(manager, f"add_{name}_pass")()
        manager.run(module, builder)
    return module


STAGES = (
    ("as emitted", []),
    ("sroa", ["sroa"]),
    ("+ instcombine, simplifycfg", ["sroa", "instruction_combine", "simplify_cfg"]),
    ("O2, loops not vectorised", "O2 scalar"),
    ("O2", "O2"),
)
KINDS = ("alloca", "load", "store", "phi", "call", "fdiv")


def counts(function):
    """Instructions in all, of each kind of interest, in the innermost loop, on vectors."""
    blocks = list(function.blocks)
    listed = [one for block in blocks for one in block.instructions]
    kinds = [sum(one.opcode == kind for one in listed) for kind in KINDS]
    wide = sum("<4 x double>" in str(one) for one in listed)
    return [len(blocks), len(listed), *kinds, wide]


def gpu_code(name, vendor):
    """The assembly of one function for one GPU, from the same source."""
    target = machine(*GPUS[vendor][:2])
    module = optimised(Compiler(SOURCE, gpu=vendor), "O2", target)
    text = target.emit_assembly(module)
    start = re.search(rf"^(?:\.visible \.entry )?{name}[(:]", text, re.M).start()
    return text[start:].split("}" if vendor == "nvidia" else "s_endpgm")[0]


# --8<-- [start:run]
def run():
    """Compile for this machine with ORC, and call what it made as C functions."""
    module = optimised(Compiler(SOURCE), "O2", machine())
    jit = llvm.create_lljit_compiler()
    library = llvm.JITLibraryBuilder().add_ir(module)
    for name in ("root", "scale"):
        library.export_symbol(name)
    made = library.link(jit, "pico")
    number, numbers = ctypes.c_double, ctypes.c_double * 6
    root = ctypes.CFUNCTYPE(number, number)(made["root"])
    array = ctypes.POINTER(number)
    scale = ctypes.CFUNCTYPE(None, number, number, number, array, array)(made["scale"])
    x, y = numbers(*range(6)), numbers()
    scale(6, 3, 2, x, y)
    print(f"root(2) = {root(2)}, scale: {list(y)}")
    # --8<-- [end:run]


def main(what):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    if what == "ir":
        for title, passes in (STAGES[0], STAGES[1], STAGES[4]):
            print(
                f"; {title}\n{optimised(Compiler(SOURCE), passes, machine()).get_function('root')}"
            )
        return
    if what == "gpu":
        for vendor in GPUS:
            print(gpu_code("scale", vendor))
        return
    version = ".".join(map(str, llvm.llvm_version_info))
    print(f"llvmlite {llvmlite.__version__}, LLVM {version}, x86-64-v3")
    for name in ("root", "sum", "scale"):
        head = "".join(f"{kind:>7}" for kind in ("blocks", "all", *KINDS, "wide"))
        print(f"{name:28}{head}")
        for title, passes in STAGES:
            found = counts(optimised(Compiler(SOURCE), passes, machine()).get_function(name))
            print(f"  {title:26}" + "".join(f"{number:7}" for number in found))
        for title, promise in (("O2, may reassociate", "fast"), ("O2, arrays apart", "apart")):
            module = optimised(Compiler(SOURCE, **{promise: True}), "O2", machine())
            found = counts(module.get_function(name))
            print(f"  {title:26}" + "".join(f"{number:7}" for number in found))
    run()
    for vendor, wanted in (
        ("nvidia", ("ld.global", "div", "mul.rn", "st.global")),
        ("amd", ("global_load", "v_rcp", "v_div", "global_store")),
    ):
        code = re.findall(r"^\t(?:@%p\d+ )?([a-z][\w.]*)\b", gpu_code("scale", vendor), re.M)
        found = [f"{sum(bool(re.match(w, one)) for one in code)} {w}" for w in wanted]
        print(f"scale, {GPUS[vendor][1]}: {len(code)} instructions; " + ", ".join(found))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
