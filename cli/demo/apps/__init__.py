"""What Ray runs in `holdfast demo`. On Ray's PYTHONPATH: its modules import Ray, Holdfast never imports them."""
