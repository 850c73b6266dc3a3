"""The rule behind each step, in both languages: the captions of the figures."""

from __future__ import annotations

RULES: dict[str, tuple[str, str]] = {
    # states
    "to-init": (
        "INIT 定下分区、端口和访问权（UD 是 Q_Key）；从此可以投递 RECV。给出：{names}。",
        "INIT fixes partition, port and access rights (UD: the Q_Key); RECVs may be posted "
        "from here. Given: {names}.",
    ),
    "to-rtr": (
        "RTR 让应答方就绪：对端是谁、期待哪个 PSN。给出：{names}。",
        "RTR makes the responder ready: who the peer is and which PSN it will start with. "
        "Given: {names}.",
    ),
    "to-rts": (
        "RTS 让请求方就绪：自己的起始 PSN、超时和重试次数。给出：{names}。",
        "RTS makes the requester ready: its own first PSN, timeout and retries. Given: {names}.",
    ),
    "to-sqd": (
        "SQD：已开始的请求做完，新的不再开始。",
        "SQD: what has begun ends, nothing begins.",
    ),
    "to-sqe": (
        "UC/UD 的坏发送只停发送队列；接收照常，可改回 RTS。",
        "On UC/UD a bad send stops only the send queue; receiving goes on, and RTS is possible "
        "again.",
    ),
    "to-err": (
        "应用把 QP 移到 ERR：队列里剩下的请求全部冲刷。",
        "The application moves the QP to ERR: all requests left in its queues are flushed.",
    ),
    "to-reset": (
        "RESET 丢弃队列里的一切，不产生 CQE；ERR 只能到 RESET。",
        "RESET throws away all that is queued, without a CQE; from ERR it is the only way on.",
    ),
    "refused": (
        "ibv_modify_qp 拒绝：{reason}；什么都没有改变。",
        "ibv_modify_qp refuses: {reason}; nothing has changed.",
    ),
    "failed": (
        "出错的 QP 自行进入 ERR，只能经 RESET 重来。",
        "A QP in which a request failed goes to ERR by itself; only RESET leads out.",
    ),
    # posting and completing
    "post": (
        "工作请求 {wr} 进入发送队列；调用立即返回，数据还没有走。",
        "Work request {wr} enters the send queue; the call returns at once, no data has left.",
    ),
    "post-recv": (
        "RECV 先投递，消息才有地方落；按投递顺序取用。",
        "A RECV must be posted before the message comes; they are taken in order.",
    ),
    "status-0": (
        "完成：CQE 写入 CQ，应用轮询时才看到；缓冲区可以重用。",
        "Done: the CQE is in the CQ for the application to poll; the buffer may be reused.",
    ),
    "status-1": (
        "LOC_LEN_ERR（1）：到来的消息比 RECV 缓冲区长。",
        "LOC_LEN_ERR (1): the message that came is longer than the RECV's buffer.",
    ),
    "status-2": ("LOC_QP_OP_ERR（2）：请求本身有错。", "LOC_QP_OP_ERR (2): the request is wrong."),
    "status-4": (
        "LOC_PROT_ERR（4）：本端 lkey、保护域、范围或权限不对。",
        "LOC_PROT_ERR (4): the local lkey, its domain, range or right is wrong.",
    ),
    "status-5": (
        "WR_FLUSH_ERR（5）：QP 进入 ERR 时还没完成；首个错误才是原因。",
        "WR_FLUSH_ERR (5): not complete when the QP went to ERR; the first error tells the cause.",
    ),
    "status-6": (
        "MW_BIND_ERR（6）：内存窗口绑定不成立。",
        "MW_BIND_ERR (6): the bind is not valid.",
    ),
    "status-9": (
        "REM_INV_REQ_ERR（9）：对端认为请求无效，如消息过长或缺权限。",
        "REM_INV_REQ_ERR (9): the responder found the request invalid, such as too long a "
        "message or a right the QP lacks.",
    ),
    "status-10": (
        "REM_ACCESS_ERR（10）：rkey、范围或远端权限不对。",
        "REM_ACCESS_ERR (10): the rkey, its range or its remote right is wrong.",
    ),
    "status-11": (
        "REM_OP_ERR（11）：对端自己的 RECV 有错，做不成。",
        "REM_OP_ERR (11): the responder could not do it, its own RECV is wrong.",
    ),
    "status-12": (
        "RETRY_EXC_ERR（12）：重试用尽仍无应答。",
        "RETRY_EXC_ERR (12): no answer after the last retry.",
    ),
    "status-13": (
        "RNR_RETRY_EXC_ERR（13）：对端一直没有 RECV。",
        "RNR_RETRY_EXC_ERR (13): the responder never had a RECV.",
    ),
    "overrun": (
        "CQ 满了还要写：CQ 作废，异步事件 IBV_EVENT_CQ_ERR。",
        "One more CQE than the CQ holds: the CQ is dead, asynchronous event IBV_EVENT_CQ_ERR.",
    ),
    "async": (
        "没有 RECV 可以报错，应答方应用只收到异步事件。",
        "There is no RECV to report on: the responder's application gets an asynchronous event.",
    ),
    "app": ("{zh}", "{en}"),
    # packets
    "send": (
        "SEND 不带地址：数据落在对端下一个 RECV 的缓冲区。",
        "A SEND carries no address: the data goes where the peer's next RECV says.",
    ),
    "write": (
        "WRITE 首包带远端地址和 rkey；不带立即数就不消耗 RECV，对端 CPU 不知情。",
        "A WRITE's first packet carries remote address and rkey; without immediate data it takes "
        "no RECV and the remote CPU is not told.",
    ),
    "write-imm": (
        "带立即数的 WRITE：数据按地址写，末包另消耗一个 RECV 来通知。",
        "WRITE with immediate: data goes by address, and the last packet takes one RECV to notify.",
    ),
    "read-request": (
        "READ 请求只有一个包；PSN 按应答包的个数前进。",
        "A READ request is one packet; the PSN advances by the number of response packets.",
    ),
    "read-response": (
        "READ 应答带回数据，也就是确认；丢了由请求方重新要。",
        "READ responses carry the data and acknowledge; a lost one is asked for again.",
    ),
    "atomic": (
        "原子操作：应答方网卡读、改、写 8 字节，地址须按 8 对齐。",
        "Atomic: the responder's adapter reads, changes and writes 8 bytes, aligned to 8.",
    ),
    "atomic-ack": (
        "应答带回旧值，并存一份：请求重复到来时重传，不重做。",
        "The answer carries the old value and is kept: a repeated request gets it again, not "
        "a second execution.",
    ),
    "ack": (
        "ACK 确认直到 PSN={psn} 的一切 SEND 与 WRITE。",
        "The ACK acknowledges every SEND and WRITE up to PSN={psn}.",
    ),
    "rnr-nak": (
        "没有 RECV：RNR NAK 带着应答方的 min_rnr_timer，请发送方等。",
        "No RECV: the RNR NAK carries the responder's min_rnr_timer and asks to wait.",
    ),
    "nak-sequence": (
        "缺包：NAK 指出期待 PSN={psn}，补上之前只发这一次。",
        "A gap: the NAK says that PSN={psn} is expected, once until the gap is filled.",
    ),
    "nak-invalid-request": (
        "请求无效的 NAK：不重试，连接就此结束。",
        "NAK, invalid request: no retry, the connection ends here.",
    ),
    "nak-remote-access": (
        "远端访问错误的 NAK：不重试，连接就此结束。",
        "NAK, remote access error: no retry, the connection ends here.",
    ),
    "nak-remote-operation": (
        "远端操作错误的 NAK：应答方自身有错，连接就此结束。",
        "NAK, remote operational error: the responder's own fault, the connection ends here.",
    ),
    "unreliable": (
        "UC/UD 的包没有应答；发完即完成，到没到不知道。",
        "UC and UD packets are not answered; sent is completed, arrived or not.",
    ),
    # losses
    "lost": ("线路上丢了这个包，两端都还不知道。", "The packet is lost; neither side knows yet."),
    "gap": (
        "PSN 大于期待值：丢弃；Go-Back-N 不收乱序的包。",
        "The PSN is later than expected: dropped; go-back-N keeps nothing out of order.",
    ),
    "no-receive": (
        "没有 RECV：这个包和后面的包都丢弃，PSN 不前进。",
        "No RECV: this packet and those behind it are dropped, the expected PSN stays.",
    ),
    "duplicate": (
        "重复的包：SEND、WRITE 只再确认，原子操作只再给结果，都不重做。",
        "A duplicate: a SEND or WRITE is only acknowledged again, an atomic answered again; "
        "nothing is done twice.",
    ),
    "unknown-qpn": ("没有这个 QP 号：静默丢弃。", "No QP has this number: dropped in silence."),
    "not-ready": (
        "QP 不在能接收的状态：静默丢弃，发送方只会超时。",
        "The QP is in no state to receive: dropped in silence, the sender will time out.",
    ),
    "uc-gap": (
        "UC 消息缺了一包：整条消息作废，不报告，RECV 留给下一条。",
        "A packet of this UC message is missing: the rest is dropped unreported, the RECV is "
        "kept for the next.",
    ),
    "bad-qkey": ("Q_Key 不符：静默丢弃。", "The Q_Key does not match: dropped in silence."),
    "silent-no-receive": (
        "没有 RECV：UC/UD 没有 RNR，静默丢弃。",
        "No RECV: UC and UD know no RNR, dropped in silence.",
    ),
    "silent-short": (
        "RECV 太短（UD 要多留 40 字节）：丢弃。",
        "The RECV is too short (UD needs 40 bytes more): dropped.",
    ),
    "silent-rkey": ("rkey 不对：UC 静默丢弃。", "A wrong rkey: UC drops in silence."),
    # timers
    "go-back": (
        "从缺的 PSN 起全部重传（Go-Back-N）；还剩 {left} 次重试。",
        "Everything from the missing PSN on is sent again (go-back-N); {left} retries left.",
    ),
    "implied-nak": (
        "后面的应答先到，说明 READ 的应答丢了：从那里重要；还剩 {left} 次。",
        "A later answer came first, so a READ's was lost: ask again from there; {left} retries "
        "left.",
    ),
    "timeout": (
        "ACK 计时器到点（4.096 µs × 2^timeout）：重传；还剩 {left} 次重试。",
        "The ACK timer (4.096 us x 2^timeout) ran out: send again; {left} retries left.",
    ),
    "rnr-wait": (
        "发送方按对端给的 RNR 计时等待，再从同一 PSN 重传。",
        "The sender waits as long as the responder's RNR timer says, then resends from the "
        "same PSN.",
    ),
    # memory
    "placed": (
        "应答方网卡查过 rkey 与范围，直接写入内存。",
        "The responder's adapter has checked rkey and range and writes to memory itself.",
    ),
    "atomic-done": (
        "网卡内完成读改写；只对经同一网卡的访问是原子的。",
        "Read, change, write inside the adapter; atomic only against accesses through the "
        "same adapter.",
    ),
    "bind": (
        "绑定在发送队列里按顺序执行；此后新 rkey 有效，旧的无效。",
        "The bind runs in its turn in the send queue; from now on the new rkey counts and the "
        "old does not.",
    ),
    "invalidate": (
        "窗口作废：持有这个 rkey 的对端从此被拒绝。",
        "The window is invalid: a peer that still holds this rkey is refused from now on.",
    ),
}
