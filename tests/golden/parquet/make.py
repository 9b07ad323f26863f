# Writes the Parquet files of tests/data/table/parquet_test.cpp and tests/end_to_end/data/parquet_test.cpp, and the CSV file that
# pandas makes of the table of people.
import sys, decimal, datetime
import pandas as pd, numpy as np, pyarrow as pa, pyarrow.parquet as pq
out = sys.argv[1]
r = np.random.default_rng(0)
n = 60
t = pd.DataFrame({
    'age': pd.array(r.integers(17, 90, n), dtype='Int64'),
    'gain': r.normal(0, 1000, n).round(3),
    'hours': r.integers(1, 99, n).astype('float32'),
    'work': r.choice(['private', 'state', 'self-emp, inc', 'żółć'], n),
    'home': pd.Categorical(r.choice(['own', 'rent'], n)),
    'member': r.choice([True, False], n),
    'since': pd.to_datetime(r.choice(['2020-01-02', '2021-12-31', '2024-02-29'], n)).date,
    'code': pd.array(r.integers(1, 4, n), dtype='uint8'),
    'price': [decimal.Decimal(int(x)).scaleb(-2) for x in r.integers(-9999, 9999, n)],
    'split': r.choice(['train', 'valid'], n),
    'income': r.choice(['<=50K', '>50K'], n),
})
t.loc[[3, 5, 7, 17], 'split'] = 'train'
t.loc[[3, 17], 'age'] = pd.NA
t.loc[[5, 40], 'gain'] = np.nan
t.loc[[7], 'work'] = None
t.to_csv(out + '/people.csv', index=False)
for codec in ('snappy', 'zstd', 'gzip', 'none'):
    t.to_parquet(f'{out}/people_{codec}.parquet', compression=None if codec == 'none' else codec, row_group_size=25, index=False)
odd = t.head(5).copy()
odd['hours'] = ['86', '2', 'many', '85', '1.5']
odd.to_parquet(out + '/people_odd.parquet', index=False)
nested = t[['age', 'income']].copy()
nested['tags'] = [[1, 2]] * n
pq.write_table(pa.Table.from_pandas(nested, preserve_index=False), out + '/nested.parquet')
pq.write_table(pa.table({'x': pa.array([], pa.int64()), 'y': pa.array([], pa.string())}), out + '/empty.parquet')
print(pq.read_schema(out + '/people_snappy.parquet'))
