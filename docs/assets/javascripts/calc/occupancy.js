/**
 * Occupancy: how many blocks of a kernel an SM holds at once.
 *
 * The rules are those of NVIDIA's cuda_occupancy.h (CUDA 13): registers are given to warps in
 * units of 256 within each of the SM's four partitions, shared memory to blocks in units of 128
 * bytes (256 before compute capability 8.0) with 1 KiB reserved for the system from 8.0 on.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var WARP = 32;
  var REGISTER_UNIT = 256;
  var PARTITIONS = 4;
  var MAX_REGISTERS = 255;

  function roundUp(value, unit) {
    return Math.ceil(value / unit) * unit;
  }

  /**
   * Blocks on an SM, by each limit.
   *
   * sm: {threads, blocks, registers, shared, shared_block, reserved} (bytes); kernel: {threads,
   * registers (a thread), shared (bytes a block)}. Shared memory is configured at its largest.
   */
  f.occupancy = function (sm, kernel) {
    var warps = Math.ceil(kernel.threads / WARP);
    var perWarp = roundUp(kernel.registers * WARP, REGISTER_UNIT);
    var byRegisters = 0;
    // A launch is checked as if its warps were spread over all partitions.
    if (perWarp * roundUp(warps, PARTITIONS) <= sm.registers) {
      var inPartition = perWarp ? Math.floor(sm.registers / PARTITIONS / perWarp) : Infinity;
      byRegisters = Math.floor((inPartition * PARTITIONS) / warps);
    }
    // The unit shrank with the compute capability that began to reserve some.
    var allocated = roundUp(kernel.shared + sm.reserved, sm.reserved ? 128 : 256);
    var byShared = 0;
    if (allocated <= sm.shared_block + sm.reserved) {
      byShared = allocated ? Math.floor(sm.shared / allocated) : Infinity;
    }
    var limits = {
      warps: Math.floor(sm.threads / WARP / warps),
      blocks: sm.blocks,
      registers: byRegisters,
      shared: byShared
    };
    var blocks = Math.min(limits.warps, limits.blocks, limits.registers, limits.shared);
    return {
      blocks: blocks,
      warps: blocks * warps,
      occupancy: (blocks * warps) / (sm.threads / WARP),
      limits: limits,
      registers: perWarp * warps,
      shared: allocated
    };
  };

  var NAMES = {
    warps: { zh: "线程（warp）数", en: "threads (warps)" },
    blocks: { zh: "块数上限", en: "the limit of blocks" },
    registers: { zh: "寄存器", en: "registers" },
    shared: { zh: "共享内存", en: "shared memory" }
  };

  function smOf(v) {
    return {
      reserved: v.reserved * 1024, threads: v.sm_threads, blocks: v.sm_blocks, registers: v.sm_registers,
      shared: v.sm_shared * 1024, shared_block: v.block_shared * 1024
    };
  }

  calc.add({
    id: "occupancy",
    title: { zh: "占用率", en: "Occupancy" },
    about: {
      zh: "一个 SM 能同时放几个线程块，被哪种资源卡住。",
      en: "How many blocks an SM holds at once, and which resource stops more."
    },
    note: "hpc/cuda/05-divergence-occupancy",
    inputs: [
      {
        key: "cc", label: { zh: "计算能力", en: "Compute capability" }, kind: "preset", family: "compute-capability", value: "cc90",
        fills: {
          sm_threads: "threads_sm", sm_blocks: "blocks_sm", sm_registers: "regs_sm", sm_shared: "smem_sm",
          block_shared: "smem_block", reserved: "smem_reserved"
        }
      },
      { key: "threads", label: { zh: "每块线程", en: "Threads per block" }, kind: "integer", value: 256, min: 1, max: 1024 },
      { key: "registers", label: { zh: "每线程寄存器", en: "Registers per thread" }, kind: "integer", value: 64, min: 1, max: MAX_REGISTERS, help: { zh: "nvcc -Xptxas -v 会打印。", en: "nvcc -Xptxas -v prints it." } },
      { key: "shared", label: { zh: "每块共享内存（静态加动态）", en: "Shared memory per block (static and dynamic)" }, kind: "integer", unit: "B", value: 32768, min: 0, max: 262144 },
      { key: "sm_threads", label: { zh: "每 SM 线程上限", en: "Threads per SM" }, kind: "integer", min: 32, max: 4096 },
      { key: "sm_blocks", label: { zh: "每 SM 块数上限", en: "Blocks per SM" }, kind: "integer", min: 1, max: 64 },
      { key: "sm_registers", label: { zh: "每 SM 寄存器", en: "Registers per SM" }, kind: "integer", min: 1024, max: 1048576 },
      { key: "sm_shared", label: { zh: "每 SM 共享内存", en: "Shared memory per SM" }, unit: "KiB", min: 1, max: 1024 },
      { key: "block_shared", label: { zh: "每块共享内存上限", en: "Shared memory per block at most" }, unit: "KiB", min: 1, max: 1024 },
      { key: "reserved", label: { zh: "系统每块保留", en: "Reserved for the system, per block" }, unit: "KiB", min: 0, max: 16 }
    ],
    outputs: [
      { key: "occupancy", label: { zh: "占用率", en: "Occupancy" }, kind: "ratio" },
      { key: "blocks", label: { zh: "每 SM 块数", en: "Blocks per SM" }, kind: "count" },
      { key: "warps", label: { zh: "每 SM warp 数", en: "Warps per SM" }, kind: "count" },
      { key: "limiter", label: { zh: "受限于", en: "Limited by" } },
      { key: "registers", label: { zh: "每块分到的寄存器", en: "Registers given to a block" }, kind: "count" },
      { key: "shared", label: { zh: "每块分到的共享内存", en: "Shared memory given to a block" }, unit: "B", kind: "count" }
    ],
    formula: [
      "\\text{blocks} = \\min\\Bigl(\\left\\lfloor\\tfrac{W_{SM}}{w}\\right\\rfloor,\\; B_{SM},\\allowbreak\\; \\left\\lfloor\\tfrac{4\\lfloor R_{SM}/4/r\\rfloor}{w}\\right\\rfloor,\\; \\left\\lfloor\\tfrac{S_{SM}}{s}\\right\\rfloor\\Bigr), \\allowbreak\\quad \\text{occupancy} = \\frac{\\text{blocks}\\cdot w}{W_{SM}}"
    ],
    assumptions: [
      { zh: "w：每块 warp 数；r：每 warp 寄存器，上取到 256 的倍数；s：每块共享内存，另加系统保留的 1 KiB（8.0 起），上取到 128 字节的倍数（8.0 前 256）。", en: "w: warps per block; r: registers per warp, rounded up to 256; s: shared memory per block with 1 KiB reserved (from 8.0), rounded up to 128 bytes (256 before 8.0)." },
      { zh: "共享内存按最大划分；不用线程块集群。", en: "Shared memory is carved out at its largest; no thread block clusters." },
      { zh: "占用率高不等于快：够藏住延迟就够了。", en: "High occupancy is not speed: enough to hide latency is enough." }
    ],
    example: { inputs: { cc: "cc90", threads: 256, registers: 64, shared: 32768 }, says: { zh: "计算能力 9.0，每块 256 线程、每线程 64 个寄存器、32 KiB 共享内存：", en: "Compute capability 9.0, 256 threads a block, 64 registers a thread, 32 KiB of shared memory:" } },
    sources: [{ title: "NVIDIA cuda_occupancy.h, CUDA Runtime 13.5.37", url: "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__OCCUPANCY.html", read: "2026-11-21" }],
    run: function (v) {
      var found = f.occupancy(smOf(v), v);
      var names = { zh: [], en: [] };
      for (var key in NAMES) {
        if (found.limits[key] === found.blocks) {
          names.zh.push(NAMES[key].zh);
          names.en.push(NAMES[key].en);
        }
      }
      return {
        occupancy: found.occupancy, blocks: found.blocks, warps: found.warps,
        limiter: { zh: names.zh.join("、"), en: names.en.join(", ") },
        registers: found.registers, shared: found.shared
      };
    },
    remarks: function (v, out) {
      return out.blocks > 0 ? [] : [{ zh: "一个块也放不下：启动会失败。", en: "Not one block fits: the launch will fail." }];
    },
    tables: function (v) {
      var found = f.occupancy(smOf(v), v);
      var rows = [];
      for (var key in NAMES) {
        rows.push({ cells: [NAMES[key], found.limits[key]], chosen: found.limits[key] === found.blocks });
      }
      return [{
        caption: { zh: "各资源容得下的块数", en: "Blocks that each resource allows" },
        head: [{ label: { zh: "资源", en: "Resource" } }, { label: { zh: "块", en: "Blocks" }, kind: "count" }],
        rows: rows
      }];
    }
  });
})(this);
