#!/usr/bin/env python3
"""`ddptrain init` and `run` with what they write, next to scikit-learn's ridge and gradient boosting.

Six tables: Adult (--data FOLDER holds adult.csv), two that scikit-learn has, three made ones of known structure. Rows are
cut into 64 % to train on, 16 % for validation (the column `split`, which init finds) and 20 % that are unused before the
end. All three programs train on the same 64 %; ours scores its best weights by the validation split.

    bench/tables.py --data ../data            every table, five seeds
    bench/tables.py --tables flats,diabetes   some of them
"""
import argparse, csv, io, json, os, pathlib, subprocess, sys, tempfile, time
import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

HERE = pathlib.Path(__file__).resolve().parent


def flats():
    """1,500 flats: price is linear in area and age, with factors of the town, a yearly rise and a season."""
    rng = np.random.default_rng(1)
    n = 1500
    town = rng.choice(['Kiel', 'Ulm', 'Bonn', 'Mainz'], n)
    area, rooms, built = rng.uniform(25, 160, n).round(1), rng.integers(1, 7, n), rng.integers(1900, 2023, n)
    days = rng.integers(0, 5 * 365, n)
    sold = pd.Timestamp('2019-01-01') + pd.to_timedelta(days, 'D')
    level = pd.Series(town).map({'Kiel': 2900, 'Ulm': 3500, 'Bonn': 3900, 'Mainz': 4300}).to_numpy()
    price = area * level * (1 + 0.04 * days / 365) + 9000 * rooms - 350 * (2023 - built)
    price = price * (1 + 0.03 * np.sin(2 * np.pi * sold.day_of_year.to_numpy() / 365)) + rng.normal(0, 25000, n)
    return pd.DataFrame({'town': town, 'area': area, 'rooms': rooms, 'built': built,
                         'sold_date': sold.strftime('%Y-%m-%d'), 'price': price.round(-2)})


def shop():
    """8,000 days of 8 shops: sales by the day of the week, the month, holidays before it, and a trend."""
    rng = np.random.default_rng(2)
    days = pd.date_range('2021-01-01', periods=1000)
    frame = pd.DataFrame([(d, s) for s in range(8) for d in days], columns=['date', 'shop'])
    dow, month = frame.date.dt.day_of_week, frame.date.dt.month
    level = 800 + 150 * frame['shop']
    factor = dow.map({0: 1, 1: .95, 2: .97, 3: 1.05, 4: 1.3, 5: 1.6, 6: .4}) * (1 + .25 * (month == 12) - .1 * (month == 2))
    trend = 1 + .2 * (frame.date - days[0]).dt.days / 1000
    promo = rng.integers(0, 2, len(frame))
    sales = level * factor * trend * (1 + .2 * promo) * rng.lognormal(0, .08, len(frame))
    return pd.DataFrame({'date': frame.date.dt.strftime('%Y-%m-%d'), 'shop': 'S' + frame['shop'].astype(str),
                         'promo': np.where(promo, 'yes', 'no'), 'sales': sales.round(2)})


def friedman():
    """4,000 rows of Friedman's first function (Friedman, 1991): a product, a square, two lines, five columns of noise."""
    x, y = datasets.make_friedman1(4000, noise=1.0, random_state=3)
    return pd.DataFrame(x.round(5), columns=[f'x{i}' for i in range(10)]).assign(target=y.round(4))


def diabetes():
    return datasets.load_diabetes(as_frame=True, scaled=False).frame


def breast_cancer():
    frame = datasets.load_breast_cancer(as_frame=True).frame
    frame['target'] = frame.target.map({0: 'malignant', 1: 'benign'})
    return frame


def adult(folder):
    return pd.read_csv(pathlib.Path(folder) / 'adult.csv')


TABLES = {'flats': (flats, 'price'), 'shop': (shop, 'sales'), 'friedman': (friedman, 'target'),
          'diabetes': (diabetes, 'target'), 'breast_cancer': (breast_cancer, 'target'), 'adult': (adult, 'class')}


def with_date_numbers(frame):
    """What people give scikit-learn for a date: year, month, day of the week, days since 1970."""
    frame = frame.copy()
    for name in frame.columns:
        if 'date' in name:
            date = pd.to_datetime(frame.pop(name))
            frame[name + '_year'], frame[name + '_month'] = date.dt.year, date.dt.month.astype(str)
            frame[name + '_dow'] = date.dt.day_of_week.astype(str)
            frame[name + '_days'] = (date - pd.Timestamp('1970-01-01')).dt.days
    return frame


def peers(frame, target, part, seed):
    x, y = with_date_numbers(frame.drop(columns=target)), frame[target]
    names = [c for c in x if x[c].dtype.kind not in 'iufb']
    numbers = [c for c in x if c not in names]
    classes = y.dtype.kind not in 'iuf'
    score = accuracy_score if classes else r2_score
    linear = make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(strategy='median'), StandardScaler()), numbers),
            (OneHotEncoder(handle_unknown='ignore'), names)),
        LogisticRegression(max_iter=2000) if classes else Ridge())
    for name in names:
        x[name] = x[name].astype('category')
    boosting = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    fit, test = part == 'train', part == 'test'
    linear.fit(x[fit], y[fit])
    trees = boosting(categorical_features='from_dtype', random_state=seed).fit(x[fit], y[fit])
    return score(y[test], linear.predict(x[test])), score(y[test], trees.predict(x[test]))


def ours(program, frame, target, part, seed, extra):
    with tempfile.TemporaryDirectory() as folder:
        def run(*words):
            ended = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
            if ended.returncode:
                sys.exit(f"{' '.join(words)}\n{ended.stdout}{ended.stderr}")
            return ended.stdout
        seen = frame[part != 'test'].assign(split=part[part != 'test'])
        seen.to_csv(os.path.join(folder, 'data.csv'), index=False)
        frame[part == 'test'].to_csv(os.path.join(folder, 'test.csv'), index=False)
        run('init', 'data.csv', 'mine.yaml', '--target', target)
        start = time.time()
        run('run', 'mine.yaml', f'seed={seed}', *extra)
        seconds = time.time() - start
        rows = list(csv.DictReader(io.StringIO(run('predict', 'runs/mine/latest', 'test.csv', '--checkpoint', 'best', '--format', 'csv'))))
        truth = frame[target][part == 'test']
        if frame[target].dtype.kind in 'iuf':
            return r2_score(truth, [float(row['value']) for row in rows]), seconds
        return accuracy_score(truth.astype(str), [row['label'] for row in rows]), seconds


def mean_of(values):
    return f'{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}' if len(values) > 1 else f'{values[0]:.4f}'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--data', default=os.environ.get('DDPTRAIN_DATA', 'data'))
    parser.add_argument('--program', default=str(HERE.parent / 'build/ddptrain'))
    parser.add_argument('--tables', default=','.join(TABLES))
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--first-seed', type=int, default=100, help='defaults of init were chosen with seeds below 100')
    parser.add_argument('--json', action='store_true')
    parser.add_argument('overrides', nargs='*', help='KEY=VALUE for run')
    arguments = parser.parse_args()
    print('| table | rows | figure | ours | ridge | boosting | seconds of ours | seeds |\n|---|---|---|---|---|---|---|---|')
    for name in arguments.tables.split(','):
        make, target = TABLES[name]
        frame = make(arguments.data) if name == 'adult' else make()
        figure = 'r2' if frame[target].dtype.kind in 'iuf' else 'accuracy'
        scores, times = [], []
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            draw = np.random.default_rng(seed).random(len(frame))
            part = np.where(draw < .64, 'train', np.where(draw < .8, 'valid', 'test'))
            score, seconds = ours(arguments.program, frame, target, part, seed, arguments.overrides)
            scores.append((score, *peers(frame, target, part, seed)))
            times.append(seconds)
        ours_, linear, trees = zip(*scores)
        print(f'| {name} | {len(frame):,} | {figure} | {mean_of(ours_)} | {mean_of(linear)} | {mean_of(trees)} '
              f'| {np.mean(times):.1f} | {arguments.seeds} |', flush=True)


if __name__ == '__main__':
    main()
