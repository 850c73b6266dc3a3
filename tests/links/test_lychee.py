"""What `lychee.toml` asks for, tried on a server of this machine."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Pages(BaseHTTPRequestHandler):
    """`/ok` is there with one id; nothing else is."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/ok" else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b'<h2 id="here">x</h2>')

    do_HEAD = do_GET  # noqa: N815 (the name that the library calls)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_lychee_asks_as_configured(tmp_path: Path) -> None:
    httpd = HTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    at = f"http://127.0.0.1:{httpd.server_port}"
    note = f"[a]({at}/ok#here) [b]({at}/ok#nope) [c](gone.md)\n\n见 {at}/ok；好，\n- {at}/gone\n"
    (tmp_path / "x.md").write_text(note + "\nhttps://host.example/x\n", encoding="utf-8")
    config = (ROOT / "lychee.toml").read_text(encoding="utf-8")
    config = config.replace("exclude_all_private = true", "").replace('"1s"', '"1ms"')
    (tmp_path / "lychee.toml").write_text(config.replace("max_retries = 2", "max_retries = 0"))
    lychee = Path(sys.executable).with_name("lychee")
    command = [
        str(lychee),
        "--config",
        "lychee.toml",
        "--no-progress",
        "--format",
        "markdown",
        "x.md",
    ]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    httpd.shutdown()
    said = [line for line in ran.stdout.splitlines() if line.startswith("* ")]
    assert ran.returncode == 2, ran.stderr
    assert len(said) == 2 and "/ok#nope" in said[0] + said[1] and "/gone>" in said[0] + said[1]
