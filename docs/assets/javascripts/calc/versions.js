/**
 * Which releases of PyTorch run on a GPU with a driver: two locks, the driver's branch and the
 * machine code in the wheel.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  /** The target that serves a GPU, as "8.6": the same major, the highest minor not above; or "". */
  f.targetFor = function (capability, targets) {
    var best = "";
    targets.split(" ").forEach(function (target) {
      var parts = target.split(".");
      var number = Number(parts[0]) * 10 + Number(parts[1]);
      if (Math.floor(capability / 10) === Number(parts[0]) && number <= capability) {
        best = target;
      }
    });
    return best;
  };

  /** Whether a driver accepts a wheel: "yes", "forward" (with the package), or "no". */
  f.driverAccepts = function (driver, needed, forward) {
    return driver >= needed ? "yes" : forward ? "forward" : "no";
  };

  var ACCEPTS = {
    yes: { zh: "够", en: "new enough" },
    forward: { zh: "要 cuda-compat", en: "with cuda-compat" },
    no: { zh: "太旧", en: "too old" }
  };
  var NONE = { zh: "没有", en: "none" };

  /** Every release, oldest first: {version, cuda, driver, target, runs}. */
  function releases(v) {
    var family = calc.data.families["torch-wheels"];
    return (family ? family.rows : []).map(function (row) {
      var driver = f.driverAccepts(v.driver, row.cells.driver[0], v.compat && v.forward > 0);
      var target = f.targetFor(v.cc, row.cells.archs[0]);
      return {
        key: row.key, version: calc.say(row.title, "en"), cuda: row.cells.cuda[0], driver: driver,
        target: target, runs: driver !== "no" && target !== ""
      };
    });
  }

  function verdict(one) {
    if (one.runs) {
      return one.driver === "forward"
        ? { zh: "能跑，要 cuda-compat", en: "runs, with cuda-compat" } : { zh: "能跑", en: "runs" };
    }
    return one.target === ""
      ? { zh: "不能：没有这种 GPU 的机器码", en: "does not run: no machine code for this GPU" }
      : { zh: "不能：驱动太旧", en: "does not run: the driver is too old" };
  }

  calc.add({
    id: "versions",
    title: { zh: "这块 GPU、这个驱动配哪些版本", en: "Versions for a GPU and a driver" },
    about: {
      zh: "PyPI 上的哪些 PyTorch 能在这种 GPU、这个驱动分支上跑，卡在哪把锁。",
      en: "Which PyTorch releases on PyPI run on a GPU with a driver branch, and which lock stops the others."
    },
    note: "eng/version-matrix",
    inputs: [
      { key: "gpu", label: { zh: "GPU 的计算能力", en: "Compute capability of the GPU" }, kind: "preset", family: "gpu-targets", value: "sm90", fills: { cc: "cc" } },
      { key: "cc", label: { zh: "计算能力，不带点", en: "Compute capability without its point" }, kind: "integer", min: 50, max: 199 },
      { key: "branch", label: { zh: "驱动分支", en: "Driver branch" }, kind: "preset", family: "driver-branches", value: "r570", fills: { driver: "branch", forward: "forward" } },
      { key: "driver", label: { zh: "驱动版本的第一段", en: "First part of the driver's version" }, kind: "integer", min: 300, max: 999 },
      { key: "forward", label: { zh: "前向兼容支持这个分支（1 是）", en: "Forward compatibility supports the branch (1 is yes)" }, kind: "integer", min: 0, max: 1 },
      { key: "compat", label: { zh: "数据中心卡，可装 cuda-compat", en: "Data-centre GPU, cuda-compat possible" }, kind: "flag", value: false },
      { key: "torch", label: "PyTorch", kind: "preset", family: "torch-wheels", value: "t2-15-0", fills: { needed: "driver" } },
      { key: "needed", label: { zh: "它要的驱动分支", en: "Driver branch that it needs" }, kind: "integer", min: 300, max: 999 }
    ],
    outputs: [
      { key: "runs", label: { zh: "这个版本", en: "This release" } },
      { key: "target", label: { zh: "用哪段机器码", en: "Machine code used" } },
      { key: "newest", label: { zh: "能跑的最新版本", en: "Newest release that runs" } }
    ],
    formula: ["\\text{runs} = (\\text{driver} \\ge \\text{needed}) \\;\\land\\; \\exists\\, t:\\; \\text{major}_t = \\text{major},\\ \\text{minor}_t \\le \\text{minor}"],
    assumptions: [
      { zh: "PyPI 上 Linux x86-64 的包；download.pytorch.org 上有别的 CUDA 版本。", en: "The packages for Linux x86-64 on PyPI; download.pytorch.org has builds for other CUDA versions." },
      { zh: "次版本兼容：CUDA 12 要 525，CUDA 13 要 580；新功能可能仍被拒绝。", en: "Minor version compatibility: 525 for CUDA 12, 580 for CUDA 13; new features may still be refused." }
    ],
    example: { inputs: { gpu: "sm90", branch: "r570", torch: "t2-15-0" }, says: { zh: "H100、驱动 R570、PyTorch 2.15.0：", en: "An H100, driver R570, PyTorch 2.15.0:" } },
    sources: [{ title: "NVIDIA, CUDA Compatibility: Minor Version Compatibility", url: "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html", read: "2026-11-28" }],
    run: function (v) {
      var all = releases(v);
      var running = all.filter(function (one) { return one.runs; });
      var chosen = all.filter(function (one) { return one.key === v.torch; })[0];
      return {
        runs: chosen ? verdict(chosen) : NONE,
        target: chosen && chosen.target ? chosen.target : NONE,
        newest: running.length ? running[running.length - 1].version : NONE
      };
    },
    remarks: function (v) {
      return v.cc === 110 || v.cc === 121 ? [{ zh: "这种 GPU 在 aarch64 机器里：看笔记里 aarch64 的包。", en: "This GPU comes with an aarch64 CPU: see the aarch64 packages in the note." }] : [];
    },
    tables: function (v) {
      return [{
        caption: { zh: "每个版本", en: "Every release" },
        head: [{ label: "PyTorch" }, { label: "CUDA" }, { label: { zh: "驱动", en: "Driver" } }, { label: { zh: "机器码", en: "Machine code" } }],
        rows: releases(v).map(function (one) {
          return { cells: [one.version, one.cuda, ACCEPTS[one.driver], one.target || NONE], chosen: one.runs };
        })
      }];
    }
  });
})(this);
