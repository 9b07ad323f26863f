"""images.parquet: two row groups of three images, as the library datasets writes them (pyarrow 25 or later).

python tests/golden/parquet/images.py rewrites it here; tests/data/image/image_parquet_test.cpp reads it.
"""
import json
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

here = pathlib.Path(__file__).parent
names = ["a_rgb.jpg", "a_palette.png", "a_rgb_420_q60.jpg", "a_grey.jpg", "a_rgb.jpg", "a_exif.jpg"]
images = [{"bytes": (here.parent / "images" / name).read_bytes(), "path": name} for name in names]
features = {"image": {"_type": "Image"}, "label": {"names": ["cat", "dog", "bird"], "_type": "ClassLabel"}}
schema = pa.schema([("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])), ("label", pa.int64()),
                    ("word", pa.string()), ("raw", pa.binary())],
                   metadata={"huggingface": json.dumps({"info": {"features": features}})})
table = pa.table({"image": images, "label": [0, 1, 1, 2, 0, 1], "word": ["x", "y", "x", "y", "x", "y"],
                  "raw": [each["bytes"] for each in images]}, schema=schema)
pq.write_table(table, here / "images.parquet", row_group_size=3)
