"""How kernels are compiled: in one place, the same for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core import config
from numba.extending import intrinsic, overload

from .cache import KernelCache

JIT: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}
NO_ARRAYS: dict[str, Any] = {"_nrt": False}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function over arrays when it is first called, and keep the result on disk.

    It lets go of the interpreter's lock, checks no bounds, never raises, and makes no arrays: all are the caller's, so
    none is counted, which would cost more than what is done with them.
    """
    return _kept(njit(**JIT, **NO_ARRAYS)(function))


def part(function: Callable[..., Any]) -> Any:
    """Compile a function into each of the kernels that call it."""
    return njit(**JIT, **NO_ARRAYS, inline="always")(function)


def making(function: Callable[..., Any]) -> Any:
    """Compile a kernel that may make arrays for itself."""
    return _kept(njit(**JIT)(function))


def _kept(dispatcher: Any) -> Any:
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        dispatcher._cache = KernelCache(dispatcher.py_func)
    return dispatcher


def lowest(mask: int) -> int:
    """The number of the lowest bit of a mask that has one."""
    return (int(mask) & -int(mask)).bit_length() - 1


def prefetch(words: Any, place: int) -> None:
    """Ask for a word of an array that will be read soon. Changes nothing."""


@intrinsic
def _lowest(typing: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        never_zero = context.get_constant(types.boolean, True)
        return builder.cttz(arguments[0], never_zero)

    return types.int64(types.uint64), generate


@overload(lowest, inline="always")
def _compiled_lowest(mask):
    return lambda mask: _lowest(mask)


@intrinsic
def _prefetch(typing: Any, words: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils

        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, signature.args[0], array, [arguments[1]])
        word = ir.IntType(32)
        byte = ir.IntType(8).as_pointer()
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        )
        read, near, data = (ir.Constant(word, number) for number in (0, 3, 1))
        builder.call(function, [builder.bitcast(place, byte), read, near, data])
        return context.get_dummy_value()

    return types.void(words, types.uint64), generate


@overload(prefetch, inline="always")
def _compiled_prefetch(words, place):
    return lambda words, place: _prefetch(words, place)
