/**
 * Running a cluster: how often to checkpoint, and how many switches a fat tree takes.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  /** Young's interval between checkpoints, in the unit of its arguments. */
  f.youngInterval = function (cost, mtbf) {
    return Math.sqrt(2 * cost * mtbf);
  };

  /** Daly's higher-order interval (2006, equation 37). */
  f.dalyInterval = function (cost, mtbf) {
    if (cost >= 2 * mtbf) {
      return mtbf;
    }
    var ratio = cost / (2 * mtbf);
    return Math.sqrt(2 * cost * mtbf) * (1 + Math.sqrt(ratio) / 3 + ratio / 9) - cost;
  };

  /** Share of time lost to writing, to work done again and to restarts (first order). */
  f.checkpointLoss = function (interval, cost, mtbf, restart) {
    return cost / (interval + cost) + ((interval + cost) / 2 + restart) / mtbf;
  };

  calc.add({
    id: "checkpoint",
    title: { zh: "检查点间隔", en: "Checkpoint interval" },
    about: {
      zh: "写得太勤浪费写的时间，太疏浪费重算的时间：Young 与 Daly 的折中。",
      en: "Too often wastes writing, too seldom wastes work: the balance of Young and Daly."
    },
    note: "train/fault-tolerance",
    inputs: [
      { key: "gpus", label: { zh: "GPU 数", en: "GPUs" }, kind: "integer", value: 16384, min: 1, max: 1e7 },
      {
        key: "known", label: { zh: "已知的故障率", en: "Failure rate known as" }, kind: "choice", value: "system",
        choices: [
          { value: "system", label: { zh: "整个作业多久断一次", en: "time between failures of the job" } },
          { value: "gpu", label: { zh: "每块 GPU（连同所在机器的份额）的 MTBF", en: "MTBF of a GPU with its share of the machine" } }
        ]
      },
      { key: "hours", label: { zh: "作业的平均故障间隔", en: "Mean time between failures of the job" }, unit: { zh: "小时", en: "h" }, value: 3.1, min: 0.001, max: 1e6, when: { known: ["system"] } },
      { key: "years", label: { zh: "每块 GPU 的平均故障间隔", en: "Mean time between failures of a GPU" }, unit: { zh: "年", en: "years" }, value: 6, min: 0.001, max: 1000, when: { known: ["gpu"] } },
      { key: "parameters", label: { zh: "参数量", en: "Parameters" }, value: "405B", min: 1e3, max: 1e15 },
      { key: "bytes", label: { zh: "每参数写多少字节", en: "Bytes written a parameter" }, value: 14, min: 0.5, max: 32, help: { zh: "BF16 权重 2 + FP32 主权重 4 + Adam 8 = 14。", en: "BF16 weights 2, FP32 master 4, Adam 8: 14." } },
      { key: "bandwidth", label: { zh: "写入总带宽", en: "Write bandwidth, all together" }, unit: "GB/s", value: 1000, min: 0.001, max: 1e7 },
      { key: "stall", label: { zh: "写的时间里训练停住的比例", en: "Share of writing that stops training" }, unit: "%", value: 100, min: 0.01, max: 100, help: { zh: "异步写入只停复制到主存的那一段。", en: "Asynchronous writing stops only for the copy to host memory." } },
      { key: "restart", label: { zh: "重启到继续训练", en: "From failure to training again" }, unit: "min", value: 10, min: 0, max: 100000 }
    ],
    outputs: [
      { key: "daly", label: { zh: "间隔（Daly）", en: "Interval (Daly)" }, kind: "seconds" },
      { key: "young", label: { zh: "间隔（Young）", en: "Interval (Young)" }, kind: "seconds" },
      { key: "size", label: { zh: "一个检查点", en: "A checkpoint" }, kind: "bytes" },
      { key: "write", label: { zh: "写一个", en: "Writing one" }, kind: "seconds" },
      { key: "cost", label: { zh: "其中停训", en: "of which training stops" }, kind: "seconds" },
      { key: "mtbf", label: { zh: "作业平均故障间隔", en: "Time between failures of the job" }, kind: "seconds" },
      { key: "goodput", label: { zh: "有效时间", en: "Goodput" }, kind: "ratio" },
      { key: "per_day", label: { zh: "每天检查点数", en: "Checkpoints a day" } }
    ],
    formula: [
      "\\tau_{\\text{Young}} = \\sqrt{2\\,C\\,M}, \\qquad \\tau_{\\text{Daly}} = \\sqrt{2CM}\\left[1 + \\tfrac13\\sqrt{\\tfrac{C}{2M}} + \\tfrac19\\tfrac{C}{2M}\\right] - C \\quad (C < 2M)",
      "\\text{loss} \\approx \\frac{C}{\\tau + C} + \\frac{(\\tau + C)/2 + R}{M}"
    ],
    assumptions: [
      { zh: "故障独立、均匀（泊松）；M：平均故障间隔，C：停训时间，R：重启时间。", en: "Failures are independent and even (Poisson); M: time between them, C: time training stops, R: restart." },
      { zh: "损失按一阶估计，远小于 1 时才准。", en: "The loss is first order: good while it is far below 1." }
    ],
    example: { inputs: { known: "system", hours: 3.1, parameters: "405B", bandwidth: 1000 }, says: { zh: "4050 亿参数、平均 3.1 小时断一次、写入 1 TB/s：", en: "405 billion parameters, a failure every 3.1 hours, writing at 1 TB/s:" } },
    sources: [
      { title: "Young: A first order approximation to the optimum checkpoint interval (CACM 1974)", url: "https://doi.org/10.1145/361147.361115" },
      { title: "Daly: A higher order estimate of the optimum checkpoint interval (FGCS 2006)", url: "https://doi.org/10.1016/j.future.2004.11.016" }
    ],
    run: function (v) {
      var mtbf = v.known === "system" ? v.hours * 3600 : (v.years * 365.25 * 86400) / v.gpus;
      var size = v.parameters * v.bytes;
      var write = size / (v.bandwidth * 1e9);
      var cost = (write * v.stall) / 100;
      var daly = f.dalyInterval(cost, mtbf);
      return {
        daly: daly, young: f.youngInterval(cost, mtbf), size: size, write: write, cost: cost, mtbf: mtbf,
        goodput: Math.max(0, 1 - f.checkpointLoss(daly, cost, mtbf, v.restart * 60)), per_day: 86400 / (daly + cost)
      };
    },
    remarks: function (v, out) {
      var said = [];
      if (out.goodput < 0.5) {
        said.push({ zh: "有效时间不到一半：先解决故障或写入带宽，再谈间隔。", en: "Less than half of the time is useful: mend failures or write bandwidth before the interval." });
      }
      if (out.write > out.daly) {
        said.push({ zh: "下一个开始时上一个还没写完：带宽不够。", en: "The next checkpoint starts before the last is written: too little bandwidth." });
      }
      return said;
    }
  });

  /**
   * Switches and cables of a fat tree of equal switches.
   *
   * ratio: oversubscription at the leaf, hosts' ports over uplinks; above the leaf it is 1:1.
   */
  f.fatTree = function (ports, radix, levels, ratio) {
    var down = Math.floor((radix * ratio) / (1 + ratio));
    var up = radix - down;
    var leaves = Math.ceil(ports / down);
    if (leaves === 1) {
      return { down: down, up: up, leaves: 1, middle: 0, top: 0, switches: 1, cables: ports, largest: largest(radix, levels, down), uplinks: 0 };
    }
    var uplinks = leaves * up;
    var middle = levels === 3 ? Math.ceil(uplinks / (radix / 2)) : 0;
    var top = Math.ceil((levels === 3 ? middle * (radix / 2) : uplinks) / radix);
    return {
      down: down, up: up, leaves: leaves, middle: middle, top: top, switches: leaves + middle + top,
      cables: ports + uplinks + (levels === 3 ? middle * (radix / 2) : 0), largest: largest(radix, levels, down), uplinks: uplinks
    };
  };

  function largest(radix, levels, down) {
    // Two levels: a top switch reaches radix leaves. Three: a pod has radix/2 leaves, the top radix pods.
    return levels === 2 ? radix * down : radix * (radix / 2) * down;
  }

  calc.add({
    id: "fat-tree",
    title: { zh: "胖树规模", en: "Fat tree" },
    about: {
      zh: "接这么多网卡要几台交换机、几根线，对分带宽多少。",
      en: "Switches, cables and bisection for so many NICs."
    },
    note: "link/topo/cluster-fabrics",
    inputs: [
      { key: "ports", label: { zh: "要接的网卡端口", en: "NIC ports to connect" }, kind: "integer", value: 1024, min: 1, max: 1e7 },
      { key: "radix", label: { zh: "交换机端口数", en: "Ports of a switch" }, kind: "integer", value: 64, min: 4, max: 1024 },
      { key: "levels", label: { zh: "层数", en: "Levels" }, kind: "choice", value: "2", choices: [{ value: "2", label: { zh: "两层（叶脊）", en: "two (leaf and spine)" } }, { value: "3", label: { zh: "三层", en: "three" } }] },
      { key: "ratio", label: { zh: "叶交换机收敛比（下行 ÷ 上行）", en: "Oversubscription at the leaf (down over up)" }, value: 1, min: 1, max: 16 },
      { key: "rate", label: { zh: "端口速率，单向", en: "Port rate, one way" }, unit: "Gb/s", value: 400, min: 1, max: 10000 }
    ],
    outputs: [
      { key: "switches", label: { zh: "交换机", en: "Switches" }, kind: "count" },
      { key: "leaves", label: { zh: "叶", en: "Leaf" }, kind: "count" },
      { key: "middle", label: { zh: "中间层", en: "Middle" }, kind: "count", when: { levels: ["3"] } },
      { key: "top", label: { zh: "顶层", en: "Top" }, kind: "count" },
      { key: "cables", label: { zh: "线缆（含接网卡）", en: "Cables (with those to NICs)" }, kind: "count" },
      { key: "largest", label: { zh: "这种树最多接", en: "Ports at most in such a tree" }, kind: "count" },
      { key: "bisection", label: { zh: "对分带宽，单向", en: "Bisection bandwidth, one way" }, unit: "GB/s" },
      { key: "per_port", label: { zh: "全体跨半时每端口，单向", en: "Per port when all cross the middle, one way" }, unit: "GB/s" }
    ],
    formula: [
      "\\text{leaves} = \\left\\lceil\\tfrac{n}{d}\\right\\rceil, \\quad d = \\left\\lfloor\\tfrac{k\\,r}{1+r}\\right\\rfloor, \\qquad n_{\\max} = k\\,d \\text{ (2)}, \\quad \\tfrac{k^2}{2}\\,d \\text{ (3)}",
      "B_{\\text{bisection}} = \\frac{n}{2}\\cdot\\frac{\\text{rate}}{8}\\cdot\\frac{u}{d} \\quad (u = k - d)"
    ],
    assumptions: [
      { zh: "交换机同型号；按轨道（rail）布线时每个平面各算一棵树。", en: "All switches alike; with rails, count one tree a plane." },
      { zh: "理想散列：真实网络的哈希碰撞另扣。", en: "Perfect spreading: hash collisions of real networks come on top." },
      { zh: "数目按上取整，未按机柜凑整；多余端口留作管理与存储。", en: "Counts are rounded up, not matched to racks; spare ports serve management and storage." }
    ],
    example: { inputs: { ports: 1024, radix: 64, levels: "2", ratio: 1, rate: 400 }, says: { zh: "1024 个 400 Gb/s 端口、64 口交换机、两层、无收敛：", en: "1024 ports of 400 Gb/s, 64-port switches, two levels, no oversubscription:" } },
    sources: [{ title: "Al-Fares, Loukissas, Vahdat: A Scalable, Commodity Data Center Network Architecture (SIGCOMM 2008)", url: "https://doi.org/10.1145/1402958.1402967" }],
    check: function (v) {
      if (v.radix % 2) {
        return [{ key: "radix", zh: "端口数应是偶数。", en: "The number of ports must be even." }];
      }
      var tree = f.fatTree(v.ports, v.radix, Number(v.levels), v.ratio);
      if (tree.down >= v.radix) {
        return [{ key: "ratio", zh: "收敛比太大：没有端口留给上行。", en: "Too much oversubscription: no port is left for uplinks." }];
      }
      return v.ports > tree.largest
        ? [{ key: "ports", zh: "这种树最多接 " + calc.number(tree.largest, 12) + " 个端口；加一层，或用端口更多的交换机。", en: "Such a tree takes at most " + calc.number(tree.largest, 12) + " ports; add a level, or take larger switches." }]
        : [];
    },
    run: function (v) {
      var tree = f.fatTree(v.ports, v.radix, Number(v.levels), v.ratio);
      var port = v.rate / 8;
      var share = tree.leaves === 1 ? 1 : Math.min(1, tree.up / tree.down);
      return {
        switches: tree.switches, leaves: tree.leaves, middle: tree.middle, top: tree.top, cables: tree.cables,
        largest: tree.largest, bisection: (v.ports / 2) * port * share, per_port: port * share
      };
    }
  });
})(this);
