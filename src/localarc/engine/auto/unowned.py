"""An array without its owner: compiled functions pass it on without counting references.

Counting takes an atomic instruction per array and call, which adds up to more than the arithmetic.
The caller in Python keeps the arrays alive.
"""

from typing import Any

from numba.extending import intrinsic


def _unowned(typing: Any, array: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        made = context.make_array(array)(context, builder, values[0])
        made.meminfo = made.meminfo.type(None)
        made.parent = made.parent.type(None)
        return made._getvalue()

    return array(array), code


unowned: Any = intrinsic(_unowned)
"""unowned(array): the same elements, not referenced."""
