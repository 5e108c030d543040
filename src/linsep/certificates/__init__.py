"""What is proven of a fit, and how that is checked again from the data alone; no solver is known here.

- `proof`: what every kind of proof can do, and the registry; `kinds`: the kinds, a file each;
- `seal`, `data_hash`: which planes, data and objective a proof is about;
- `gap`: certificates of a duality gap; `mistakes`: why no plane makes fewer mistakes;
- `training_data`, `case`: what a check is given; `outcome`: what it finds; `verify`: the check of a model.
"""
