/**
 * Topology decoder: what it says, Chinese and English.
 *
 * The files of this folder are loaded in the order in which overrides/main.html names them, and
 * share `topoDecoder`. All but page.js touch no page: tests run them in V8 too.
 */
(function (topo) {
  "use strict";

  /** Sentences by their keys: Chinese, English. */
  var MESSAGES = {
    "pair-NVL": ["经 NVLink（{0} 条）", "over NVLink (x{0})"],
    "pair-NVB": ["经 NVLink，由另一块 GPU 转发", "over NVLink, forwarded by another GPU"],
    "pair-C2C": ["经 NVLink-C2C 与 CPU", "over NVLink-C2C and the CPU"],
    "pair-PIX": [
      "在同一个 PCIe 交换机下，至多过一个桥",
      "below one PCIe switch, at most one bridge"
    ],
    "pair-PXB": ["过多个 PCIe 桥，不经过 CPU", "through several PCIe bridges, not through a CPU"],
    "pair-P2C": [
      "网卡挂在 CPU 上，GPU 以 C2C 连这颗 CPU",
      "the NIC hangs off the CPU that the GPU reaches by C2C"
    ],
    "pair-PXN": [
      "先经 NVLink 到另一块 GPU，再从它身边的网卡出去",
      "over NVLink to another GPU and out through the NIC beside it"
    ],
    "pair-PHB": ["要经过 CPU 的一个 PCIe 主机桥", "through one PCIe host bridge of a CPU"],
    "pair-NODE": [
      "要经过同一 NUMA 节点里的两个 PCIe 主机桥",
      "through two PCIe host bridges of one NUMA node"
    ],
    "pair-SYS": [
      "要跨 NUMA 节点，走 CPU 之间的互联",
      "across NUMA nodes, over the link between CPUs"
    ],
    "pair-NET": ["在另一台机器上", "on another machine"],
    "pair-unknown": ["不认识的代号", "a code this program does not know"],
    "pair-missing": ["输入里没有这一格", "this cell is missing from the input"],
    "gpu-sys": [
      "有的 GPU 对要跨 NUMA 节点（SYS）：{0} 对（{1}）。NCCL 默认不在这样的一对之间用 P2P（AMD 且不超过两块 GPU 时例外）。",
      "GPU pairs that cross NUMA nodes (SYS): {0} ({1}). By default NCCL does not use P2P between them (except on AMD with at most two GPUs)."
    ],
    "gpu-relay": [
      "有的 GPU 对没有直连的 NVLink：{0} 对（{1}），但有共同的 NVLink 邻居，NCCL 2.8.3 起可由它转发（NVB）。",
      "GPU pairs without an NVLink of their own: {0} ({1}). They share a neighbour that has one; since 2.8.3 NCCL can forward through it (NVB)."
    ],
    "gpu-cpu": [
      "有的 GPU 对要经过 CPU（PHB 或 NODE）：{0} 对（{1}）。NCCL 默认不在这样的一对之间用 P2P（AMD 且不超过两块 GPU 时例外）。",
      "GPU pairs that go through a CPU (PHB or NODE): {0} ({1}). By default NCCL does not use P2P between them (except on AMD with at most two GPUs)."
    ],
    "asymmetric": [
      "矩阵不对称：{0} 到 {1} 是 {2}，反过来是 {3}。多半是抄录出错，或某一端的链路有问题。",
      "The matrix is not symmetric: {0} to {1} is {2}, back is {3}. Most likely a slip of copying, or a fault on one end."
    ],
    "nvlink-uneven": [
      "各对 GPU 之间的 NVLink 条数不同（{0}）：这是点对点网，不是交换网。少用几块 GPU 时，挑条数多的组合。",
      "GPU pairs have different numbers of NVLinks ({0}): a mesh, not a switch. When you use only some of the GPUs, pick those with most links between them."
    ],
    "nvlink-hides": [
      "GPU 之间显示的是 NVLink，PCIe 关系被盖住了；要看 PCIe，用 `nvidia-smi topo -mp`。",
      "NVLink hides the PCIe relation between GPUs; `nvidia-smi topo -mp` shows it."
    ],
    "nic-far": [
      "{0} 最近的网卡也在另一个 NUMA 节点（SYS）：GPUDirect RDMA 默认不用，数据绕行主机。换插槽，或换用同侧的网卡。",
      "The nearest NIC of {0} is on another NUMA node (SYS): no GPUDirect RDMA by default, data goes through host memory. Move the card or use a NIC of the same side."
    ],
    "nic-cpu": [
      "{0} 到最近的网卡要经过 CPU（{1}）：x86 上 NCCL 默认不用 GPUDirect RDMA。",
      "From {0} the nearest NIC is reached through a CPU ({1}): on x86 NCCL does not use GPUDirect RDMA by default."
    ],
    "nic-shared": [
      "{0} 是 {1} 共同的最近网卡：这些 GPU 分享它的带宽。",
      "{0} is the nearest NIC of {1}: these GPUs share its bandwidth."
    ],
    "nic-spare": [
      "{0} 不是任何 GPU 最近的网卡，多半用于存储或管理；不想让 NCCL 用它，就用 NCCL_IB_HCA 点名其余的。",
      "No GPU has {0} as its nearest NIC: probably for storage or management. To keep NCCL off it, name the others in NCCL_IB_HCA."
    ],
    "no-nic": [
      "没有列出网卡：看不出 GPU 与网络的关系。",
      "No NIC is listed, so nothing can be said of the way to the network."
    ],
    "sys-same-numa": [
      "{0} 与 {1} 显示 SYS，但 {1} 紧挨着的 GPU 与 {0} 的 NUMA 亲和相同。SYS 在这里不足以说明跨了 CPU，请用 `lspci -tv` 或 /sys 核对。",
      "{0} and {1} show SYS, yet the GPU next to {1} has the same NUMA affinity as {0}. Here SYS does not prove a way across CPUs; check with `lspci -tv` or /sys."
    ],
    "numa-missing": [
      "没有 NUMA 信息（列不存在或是 N/A）：无法按 NUMA 分组。",
      "There is no NUMA information (no column, or N/A), so devices cannot be grouped by NUMA node."
    ],
    "flat": [
      "所有 GPU 都直接挂在同一个主机桥下，看不到一个 PCIe 交换机：虚拟机里常见，多半不是真实的拓扑。",
      "All GPUs hang directly off one host bridge and no PCIe switch is visible: usual in a virtual machine, and probably not the real topology."
    ],
    "numa-unknown": [
      "CPU 节点的 numaid 是 -1：系统没有说出 NUMA 节点，NCCL 无法据此绑核。",
      "A CPU node has numaid -1: the system does not tell the NUMA node, so NCCL cannot bind threads by it."
    ],
    "width-zero": [
      "{0} 的 link_width 是 0（上游端口没有报告宽度）：NCCL 按 16 计算。",
      "{0}: link_width is 0 (the port above reports none), so NCCL reckons with 16."
    ],
    "slow-link": [
      "{0} 的 PCIe 链路在 NCCL 的模型里只有 {1} GB/s，同类最好的是 {2}：检查降速或降宽，虚拟机里检查虚拟端口报告的速率。",
      "The PCIe link of {0} has only {1} GB/s in NCCL's model, the best of its kind has {2}: look for a link trained down, or, in a VM, at the rate the virtual port reports."
    ],
    "nvswitch-hidden": [
      "NVLink 的对端在 PCIe 里看不见，NCCL 假定那是 NVSwitch：虚拟机里常见。",
      "The far end of NVLink is not visible on PCIe, NCCL assumes an NVSwitch: usual in a virtual machine."
    ],
    "nvlink-count": [
      "各 GPU 的 NVLink 条数不同（{0}）：可能有链路没有训练成功。",
      "GPUs have different numbers of NVLinks ({0}): some links may be down."
    ],
    "net-no-gdr": ["{0} 的 gdr 是 0：用不了 GPUDirect RDMA。", "{0}: gdr is 0, no GPUDirect RDMA."],
    "net-virtual": [
      "{0} 不是 PCIe 设备，NCCL 把它挂在第一个 CPU 下，距离没有意义，挑选时不算它。",
      "{0}: not a PCIe device; NCCL attaches it to the first CPU, its distance means nothing and it is left out of the choice."
    ],
    "rows-missing": [
      "缺少这些行：{0}；用对称的那一格代替。",
      "These rows are missing: {0}; the mirrored cells are used instead."
    ],
    "row-short": [
      "{0} 这一行少了 {1} 格，可能没有复制完整。",
      "Cells missing from the row of {0}: {1}; perhaps not all of it was copied."
    ],
    "row-shifted": [
      "{0} 这一行的 X 不在自己的列上：有格子丢失或错位，这一行不用，以对称的那一格代替。",
      "The X of {0} does not stand in its own column: cells were lost or moved. The row is left out and the mirrored cells are used."
    ],
    "code-unknown": [
      "不认识的代号 {0}（{1} 与 {2} 之间）。",
      "Unknown code {0} (between {1} and {2})."
    ],
    "graph-unused": ["没有找到或没有启用，0 个通道。", "not found or not enabled, 0 channels."],
    "graph-slow": [
      "图 {0} 在机内要走 {1}：至少有一段要经过 CPU，或不能用 P2P。",
      "Graph {0} uses {1} inside the node: at least one step goes through a CPU or cannot use P2P."
    ],
    "graph-net-far": [
      "图 {0} 到网卡要走 {1}：不是就近的网卡。",
      "Graph {0} reaches its NICs over {1}: not the near ones."
    ],
    "graph-fallback": [
      "图 {0} 只有 1 个通道、0.1 GB/s：NCCL 没有搜到路径，退回简单顺序。",
      "Graph {0} has one channel of 0.1 GB/s: NCCL found no path and fell back to simple order."
    ],
    "graph-uneven-nics": [
      "图 {0} 的各网卡通道数不同（{1}）。",
      "The NICs of graph {0} carry different numbers of channels ({1})."
    ],
    "error-empty": [
      "没有内容。请粘贴 `nvidia-smi topo -m` 的输出，或 NCCL 的拓扑 XML。",
      "Nothing to read. Give it the output of `nvidia-smi topo -m` or an NCCL topology XML file."
    ],
    "error-long": [
      "内容太长（超过 {0} 个字符）。只要矩阵或 XML 那一段。",
      "Too long (more than {0} characters). Only the matrix or the XML is needed."
    ],
    "error-unknown": [
      "没有找到拓扑矩阵：应有一行以 GPU0 开头的表头，和以 GPU0 开头、带 X、NV18、PIX、SYS 之类代号的行；或者是以 <system 或 <graphs 开头的 XML。",
      "No topology matrix found: expected a header line that starts with GPU0 and rows that start with GPU0 and hold codes such as X, NV18, PIX or SYS; or XML that starts with <system or <graphs."
    ],
    "error-p2p": [
      "这是 `nvidia-smi topo -p2p` 的输出，只说能不能互访。要看路径，请用 `nvidia-smi topo -m`。",
      "This is the output of `nvidia-smi topo -p2p`, which only tells whether peers may reach each other. For the paths use `nvidia-smi topo -m`."
    ],
    "error-log": [
      "这是 NCCL 的日志。请设 NCCL_TOPO_DUMP_FILE=topo.xml 再运行一次，把那个文件给我。",
      "This is NCCL's log. Run again with NCCL_TOPO_DUMP_FILE=topo.xml and give me that file."
    ],
    "error-devices": [
      "设备太多（{0} 个，上限 {1}）。",
      "Too many devices ({0}, the limit is {1})."
    ],
    "error-columns": [
      "表头只有 {0} 列，{1} 这一行却有 {2} 格，对不上列。请把表头与各行完整地再复制一次（窗口太窄会折行）。",
      "The header has {0} columns, but the row of {1} has {2} cells, so cells cannot be told apart. Copy header and rows again in full (a narrow window breaks lines)."
    ],
    "error-xml": ["XML 第 {0} 行读不懂：{1}。", "Cannot read line {0} of the XML: {1}."],
    "error-root": [
      "XML 的根元素是 <{0}>，应当是 <system>（拓扑）或 <graphs>（搜索结果）。",
      "The root of the XML is <{0}>, expected <system> (topology) or <graphs> (search results)."
    ],
    "error-no-gpu": ["XML 里没有 GPU。", "There is no GPU in the XML."],
    "title-matrix": ["nvidia-smi 拓扑矩阵", "nvidia-smi topology matrix"],
    "title-topology": ["NCCL 拓扑", "NCCL topology"],
    "title-graph": ["NCCL 搜索结果", "NCCL search results"],
    "count": ["GPU {0} 块，网卡 {1} 张", "GPUs: {0}, NICs: {1}"],
    "head-gpu": ["GPU 之间", "Between GPUs"],
    "head-best": ["每块 GPU 最近的网卡", "Nearest NIC of each GPU"],
    "head-switch": ["同一 PCIe 交换机树", "Same tree of PCIe switches"],
    "head-numa": ["NUMA 节点", "NUMA nodes"],
    "head-hops": ["到 CPU 的每一跳", "Each hop up to the CPU"],
    "head-findings": ["注意", "Worth a look"],
    "head-graphs": ["每张图", "Graphs"],
    "all-pairs": ["全部 {0} 对", "all {0} pairs"],
    "one-pair": ["1 对", "1 pair"],
    "n-pairs": ["{0} 对", "{0} pairs"],
    "node": ["节点 {0}", "node {0}"],
    "none": ["没有发现异常", "nothing odd found"],
    "hca": ["只用这些网卡：NCCL_IB_HCA=\"={0}\"", "To use only these: NCCL_IB_HCA=\"={0}\""],
    "join": ["、", ", "],
    "comma": ["，", ", "],
    "semicolon": ["；", "; "],
    "colon": ["：", ": "],
  };

  /** Labels of the page only: Chinese, English. */
  var LABELS = {
    label: [
      "粘贴 nvidia-smi topo -m 的输出，或 NCCL 的拓扑 XML、搜索结果 XML",
      "Paste the output of nvidia-smi topo -m, or NCCL's topology or graph XML"
    ],
    privacy: ["内容只在本页处理，不会上传。", "The text stays in this page; nothing is uploaded."],
    decode: ["解读", "Explain"],
    example: ["填入示例", "Fill in an example"],
    clear: ["清空", "Clear"],
    done: ["已解读。", "Done."],
    failed: ["没能读懂：", "Could not read this: "],
    crash: [
      "解码器遇到了没料到的内容，请把它连同这段文字报告给我们。",
      "The decoder met something it did not expect; please report it together with the text."
    ],
    result: ["解读结果", "Result"],
    code: ["代号", "Code"],
    meaning: ["含义", "Meaning"],
    pairs: ["哪些对", "Which pairs"],
    speed: ["NCCL 模型，GB/s，单向", "NCCL's model, GB/s, one direction"],
    nics: ["最近的网卡", "Nearest NIC"],
    shared: ["共用者", "Shared with"],
    way: ["路径（GB/s，单向，NCCL 模型）", "Way (GB/s, one direction, NCCL's model)"],
    graph: ["图", "Graph"],
    channels: ["通道", "Channels"],
    each: ["每通道 GB/s", "GB/s a channel"],
    total: ["合计 GB/s", "GB/s in all"],
    inside: ["机内路径", "Path inside"],
    order: ["顺序（通道数）", "Order (channels)"],
    warning: ["警告", "Warning"],
    info: ["说明", "Note"]
  };

  topo.MESSAGES = MESSAGES;
  topo.LABELS = LABELS;
})(this.topoDecoder = this.topoDecoder || {});
