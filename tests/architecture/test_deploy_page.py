"""The proxy in docs/deploy.md is one that nginx takes."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.stack import ROOT

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx_takes_the_configuration_of_the_page(tmp_path: Path):
    block = re.search(r"```nginx\n(.*?)```", (ROOT / "docs" / "deploy.md").read_text(), re.DOTALL)[1]
    certificate = ROOT / "tests" / "support" / "localhost.pem"
    block = re.sub(r"/etc/ssl/\S+\.(pem|key)", str(certificate), block)
    (tmp_path / "site.conf").write_text(block)
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off; include {tmp_path}/site.conf; }}"
    )
    tried = subprocess.run([NGINX, "-t", "-c", f"{tmp_path}/nginx.conf"], capture_output=True, text=True)
    assert "syntax is ok" in tried.stderr, tried.stderr
