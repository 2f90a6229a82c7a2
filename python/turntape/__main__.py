"""``python -m turntape`` is the command ``turntape``."""

from turntape.cli import main

if __name__ == "__main__":
    main()
