"""What a script, and a Python program, see of a job that fails or is stopped.

Runs each case with bash or as a small Python program and prints what the
caller sees: the exit status, and how many processes of the job are left.
Needs bash 4.4 or newer and Linux; takes about fifteen seconds.

    python docs/eng/code/shell_traps.py
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

# --8<-- [start:cases]
STATUS = (
    ("a pipe: job | tee log", "false | cat; echo status $?"),
    ("the same with pipefail", "set -o pipefail; false | cat; echo status $?"),
    ("set -e, function in an if", "set -e; f() { false; echo went on; }; if f; then echo good; fi"),
    ("set -e, function before ||", "set -e; f() { false; echo went on; }; f || echo bad"),
    ("set -e, local x=$(job)", "set -e; f() { local x=$(false); echo went on; }; f"),
    ("set -e, local x; x=$(job)", "set -e; f() { local x; x=$(false); echo went on; }; f"),
    ("set -e, mapfile < <(job)", "set -e; mapfile -t x < <(false); echo went on"),
    ("job & wait", "false & wait; echo status $?"),
    ("job & wait $!", "false & wait $!; echo status $?"),
    ("two jobs, wait -n", "sleep 9 & (exit 3) & wait -n; echo status $?; kill %1"),
    ("DIR not set: rm -rf $DIR/run", 'echo "rm -rf $DIR/run"'),
    ("the same with ${DIR:?}", 'echo "rm -rf ${DIR:?}/run"'),
)
# --8<-- [end:cases]

SIGNALS = (
    ("bash before the job", "sleep {}; echo end"),
    ("with a trap", "trap 'exit 1' TERM; sleep {}; echo end"),
    ("job & wait, trap hands on", "trap 'kill $job' TERM; sleep {} & job=$!; wait $job; wait $job"),
    ("exec job", "exec sleep {}"),
)

WAYS = (
    ("subprocess.run(timeout=1)", "run"),
    ("kill(), communicate()", "kill"),
    ("a session, killpg()", "group"),
)


def without(name: str) -> dict[str, str]:
    """The environment without one variable."""
    return {key: value for key, value in os.environ.items() if key != name}


def bash(script: str) -> str:
    """What a script prints, and its status where that is not 0."""
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=without("DIR"), check=False
    )
    said = done.stdout.splitlines()
    return ", ".join(said + ([f"exit {done.returncode}"] if done.returncode else []))


def running(mark: str) -> list[int]:
    """The processes that sleep for just so many seconds."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it may have ended meanwhile
            words = (process / "cmdline").read_bytes().split(b"\0")
            if words[:2] == [b"sleep", mark.encode()]:
                found.append(int(process.name))
    return found


def status(process: int) -> dict[str, str]:
    """What Linux tells of a process; nothing once it is gone."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (one.partition(":") for one in lines)}
    return {}


def stays(process: int) -> bool:
    """Whether no signal is on its way to a process; on a busy machine that takes time."""
    return not any(int(status(process).get(name, "0"), 16) for name in ("SigPnd", "ShdPnd"))


def left(mark: str) -> int:
    """How many such processes stay; they are killed then. One that is ending counts as gone."""
    tries = 0
    while tries < 10:
        found = running(mark)
        tries += all(map(stays, found))
        if not found:
            break
        time.sleep(0.05)
    for process in found:
        os.kill(process, signal.SIGKILL)
    return len(found)


def terminated(script: str, mark: str) -> str:
    """How a script ends that gets SIGTERM while its job runs."""
    process = subprocess.Popen(["bash", "-c", script.format(mark)])
    # The shell that started it notes its number before it sleeps itself.
    while not running(mark) or not status(process.pid)["State"].startswith("S"):
        time.sleep(0.05)
    process.terminate()
    try:
        said = f"ends at once, status {process.wait(timeout=2)}"
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        said = "does not end within 2 s"
    return f"{said}; {left(mark)} left"


def stopped(way: str, mark: str) -> str:
    """When a timeout of one second is over for a job of five below a shell."""
    started = time.monotonic()
    command = f"sleep {mark}; true"
    if way == "run":
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, shell=True, capture_output=True, timeout=1, check=False)
    elif way == "kill":
        process = subprocess.Popen(command, shell=True, stdout=subprocess.PIPE)
        try:
            process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
    else:
        # --8<-- [start:group]
        process = subprocess.Popen(
            command, shell=True, stdout=subprocess.PIPE, start_new_session=True
        )
        try:
            process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        # --8<-- [end:group]
    when = "at the timeout" if time.monotonic() - started < 4 else "when the job ends"
    return f"returns {when}; {left(mark)} left"


def lines_seen(*options: str) -> int:
    """Lines that a parent reads of a child that prints three and is killed."""
    child = "import os\nfor i in range(3): print(i)\nos.kill(os.getpid(), 9)"
    done = subprocess.run(
        [sys.executable, *options, "-c", child],
        capture_output=True,
        text=True,
        env=without("PYTHONUNBUFFERED"),
        check=False,
    )
    return len(done.stdout.splitlines())


def waited(size: int) -> str:
    """What wait() does while the child prints that many bytes into a pipe."""
    child = subprocess.Popen(
        [sys.executable, "-c", f"print('x' * {size - 1})"], stdout=subprocess.PIPE
    )
    try:
        child.wait(timeout=4)
        return "returns"
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        child.kill()
        child.communicate()


def main() -> None:
    own = os.getpid()
    print("a job fails: what the script sees")
    for name, script in STATUS:
        print(f"  {name:29} {bash(script)}")
    print("SIGTERM to the script")
    for name, script in SIGNALS:
        print(f"  {name:29} {terminated(script, f'61.{own}')}")
    print("a timeout of 1 s in Python, the job takes 5 s")
    for name, way in WAYS:
        print(f"  {name:29} {stopped(way, f'5.{own}')}")
    print("output of a Python job")
    print(f"  {'prints 3 lines, gets SIGKILL':29} {lines_seen()} seen; {lines_seen('-u')} with -u")
    for size in (65536, 65537):
        print(f"  {f'wait(), {size} bytes in a pipe':29} {waited(size)}")


if __name__ == "__main__":
    main()
