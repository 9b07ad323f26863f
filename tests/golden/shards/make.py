"""Tar archives by Python's tarfile and by webdataset 1.0.2, and what these read from them.

python tests/golden/shards/make.py, with webdataset installed; rewrites *.tar and shards.json here.
"""
import hashlib
import io
import json
import pathlib
import tarfile

import webdataset

here = pathlib.Path(__file__).parent
images = here.parent / "images"
long_name = "folder/" + "n" * 120 + "/" + "m" * 110 + ".txt"
files = [("a.txt", b"first"), ("folder/b.bin", bytes(range(256)) * 5), ("empty.txt", b""),
         ("folder/\u00fcber.txt", b"umlaut"), ("last.json", b'{"x": 1}')]


def write_tar(path, form):
    with tarfile.open(path, "w", format=form) as tar:
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for name, content in files + ([(long_name, b"long")] if form != tarfile.USTAR_FORMAT else []):
            about = tarfile.TarInfo(name)
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
        link = tarfile.TarInfo("link.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "a.txt"
        tar.addfile(link)


def members(path):
    with tarfile.open(path) as tar:
        return [{"name": each.name, "offset": each.offset_data, "size": each.size,
                 "sha256": hashlib.sha256(tar.extractfile(each).read()).hexdigest()}
                for each in tar if each.isreg()]


def write_samples(path):
    with webdataset.TarWriter(str(path), mtime=0, user="u", group="g") as sink:
        for number, name in enumerate(["a_rgb.jpg", "a_palette.png", "a_rgb_420_q60.jpg"]):
            sink.write({"__key__": f"pictures/{number:04d}", name[-3:]: (images / name).read_bytes(),
                        "cls": number % 2, "json": {"label": f"class {number}", "deep": {"id": number}}})


def samples(path):
    result = []
    for sample in webdataset.WebDataset(str(path), shardshuffle=False, empty_check=False):
        result.append({"key": sample["__key__"],
                       "columns": {name: hashlib.sha256(value).hexdigest()
                                   for name, value in sample.items() if isinstance(value, bytes)}})
    return result


for name, form in [("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT)]:
    write_tar(here / f"{name}.tar", form)
write_samples(here / "webdataset.tar")
names = ["ustar", "gnu", "pax", "webdataset"]
text = {"about": "members by Python's tarfile, samples by webdataset 1.0.2; made by make.py",
        "members": {name: members(here / f"{name}.tar") for name in names},
        "samples": samples(here / "webdataset.tar")}
(here / "shards.json").write_text(json.dumps(text, indent=1, ensure_ascii=True) + "\n")
