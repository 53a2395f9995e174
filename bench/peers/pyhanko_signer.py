"""
Signs PDF files with pyHanko (PAdES-B-B), bytes in memory to bytes in memory, for bench/peers/run.js.

    python3 pyhanko_signer.py FOLDER SECONDS

FOLDER contains signer.pfx (password "word") and PDF files. Prints a JSON line for each file: calls, seconds of processor
time and the median of a call in milliseconds; writes the last output beside the file, as NAME.pyhanko.
"""

import json
import sys
import time
from io import BytesIO
from pathlib import Path

import pyhanko.version
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import fields, signers


def sign(data: bytes, signer: signers.PdfSigner) -> bytes:
    return signer.sign_pdf(IncrementalPdfFileWriter(BytesIO(data))).getbuffer().tobytes()


def measure(data: bytes, signer: signers.PdfSigner, seconds: float):
    """Calls `sign` for `seconds`, after a warm-up; at least three times."""
    warm = time.perf_counter() + seconds * 0.3
    output = sign(data, signer)
    while time.perf_counter() < warm:
        output = sign(data, signer)
    took = []
    before = time.process_time()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(took) < 3:
        begun = time.perf_counter()
        output = sign(data, signer)
        took.append((time.perf_counter() - begun) * 1000)
    spent = time.process_time() - before
    took.sort()
    return output, {"calls": len(took), "cpuSeconds": spent, "p50Millis": took[len(took) // 2]}


def main() -> None:
    folder, seconds = Path(sys.argv[1]), float(sys.argv[2])
    key = signers.SimpleSigner.load_pkcs12(str(folder / "signer.pfx"), passphrase=b"word")
    metadata = signers.PdfSignatureMetadata(
        field_name="Signature1", md_algorithm="sha256", subfilter=fields.SigSeedSubFilter.PADES
    )
    signer = signers.PdfSigner(metadata, signer=key)
    for file in sorted(folder.glob("*.pdf")):
        output, result = measure(file.read_bytes(), signer, seconds)
        Path(f"{file}.pyhanko").write_bytes(output)
        print(json.dumps({"file": file.stem, **result, "version": pyhanko.version.__version__}), flush=True)


main()
