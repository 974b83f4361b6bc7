"""Finding plugins: entry points of the group `dpcore`, loaded and asked one by one.

Nothing that a plugin does here reaches another plugin or the command: whatever goes wrong becomes one
`Fault` with its whole reason. What loads but fails a check (an unknown hook, a wrong signature, a
wrapper) is lost whole, because it is not the plugin its author meant; a hook that raises or returns
nonsense loses only that hook's components.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pluggy

from dpcore import hookspecs
from dpcore.component import Component
from dpcore.distributions import GROUP, Fault, Plugin, api_problem, entry_points, normalise
from dpcore.errors import PluginError
from dpcore.isolation import foreign_code

_KIND_OF = {hook: kind for kind, hook in hookspecs.KINDS.items()}


class Provided(NamedTuple):
    """A component and the plugin that lists it."""

    plugin: Plugin
    kind: str
    component: Component


def discover(disable: str = "", path: Sequence[str] | None = None) -> tuple[list[Provided], list[Fault]]:
    """Everything that installed plugins provide, and every plugin or hook that is broken or disabled.

    Args:
        disable: distributions or entry points to leave out, separated by commas.
        path: folders to search for distributions instead of `sys.path`.

    Raises:
        PluginError: if `disable` names something that does not exist.
    """
    provided: list[Provided] = []
    faults: list[Fault] = []
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    found = sorted(entry_points(path, faults), key=lambda item: (item[0].dist, item[0].entry))
    known = [plugin for plugin, _, _ in found] + [fault.plugin for fault in faults]
    disabled = _disabled(disable, known)
    faults = [fault for fault in faults if fault.plugin not in disabled]
    faults += [Fault(plugin, "", "disabled", "disabled by DPCORE_DISABLE") for plugin in sorted(disabled)]
    for plugin, dist, entry in found:
        if plugin in disabled:
            continue
        try:
            with foreign_code("reading its metadata"):
                problem = api_problem(dist, plugin.dist)
            if problem:
                raise PluginError(problem)
            with foreign_code("at import"):
                module = entry.load()
            hooks = _hooks(manager, module)
        except PluginError as error:
            faults.append(Fault(plugin, "", "broken", str(error)))
            continue
        for hook, functions in hooks.items():
            try:
                taken = {p.component.name: p.plugin for p in provided if _same_list(p, plugin, hook)}
                components = _components(hook, functions, taken)
            except PluginError as error:
                faults.append(Fault(plugin, _KIND_OF[hook], "broken", str(error)))
            else:
                provided += [Provided(plugin, _KIND_OF[hook], component) for component in components]
    return provided, faults


def _same_list(item: Provided, plugin: Plugin, hook: str) -> bool:
    return item.plugin.dist == plugin.dist and item.kind == _KIND_OF[hook]


def _disabled(disable: str, known: Sequence[Plugin]) -> set[Plugin]:
    chosen: set[Plugin] = set()
    for word in filter(None, (part.strip() for part in disable.split(","))):
        hits = {p for p in known if normalise(word) in (p.dist, normalise(p.entry))}
        if not hits:
            names = ", ".join(sorted({p.dist for p in known} | {p.entry for p in known})) or "nothing"
            raise PluginError(f"DPCORE_DISABLE names {word!r}, which matches no plugin; there is: {names}.")
        chosen |= hits
    return chosen


def _hooks(manager: pluggy.PluginManager, module: Any) -> dict[str, list[Callable[[], object]]]:
    """The plugin's implementations by hook, after every check that pluggy makes and those it leaves out."""
    try:
        with foreign_code("checking its hooks"):
            manager.register(module)
            named = [hook for hook in _KIND_OF if callable(getattr(module, hook, None))]
        hooks: dict[str, list[Callable[[], object]]] = {}
        for caller in manager.get_hookcallers(module) or ():
            for implementation in caller.get_hookimpls():
                if implementation.plugin is module and _is_ours(caller.name, implementation):
                    hooks.setdefault(caller.name, []).append(implementation.function)
    finally:
        # Only validation is pluggy's work here. Pluggy 1.5 and 1.6 also keep half of a plugin that failed.
        if manager.is_registered(module):
            manager.unregister(module)
    for hook in named:
        if hook not in hooks:
            raise PluginError(f"{hook} is not marked with @dpcore.hookimpl")
    if not hooks:
        raise PluginError(f"it implements no hook; there are: {', '.join(_KIND_OF)}")
    return hooks


def _is_ours(hook: str, implementation: pluggy.HookImpl) -> bool:
    """Whether a hook is one of dpcore's; False for an unknown one that is marked as optional."""
    if hook not in _KIND_OF:
        if implementation.optionalhook:
            return False
        import difflib

        near = difflib.get_close_matches(hook, _KIND_OF, n=1)
        hint = f"nearest: {near[0]}" if near else f"there are: {', '.join(_KIND_OF)}"
        raise PluginError(f"unknown hook {hook!r}; {hint}")
    if implementation.wrapper or implementation.hookwrapper:
        raise PluginError(f"{hook} is a hook wrapper, which could change another plugin's answer")
    return True


def _components(hook: str, functions: list[Callable[[], object]], taken: dict[str, Plugin]) -> list[Component]:
    components: list[Component] = []
    for function in functions:
        with foreign_code(f"in {hook}()"):
            listed = function()
        if not isinstance(listed, list):
            raise PluginError(f"{hook}() must return a list of Component. Got {type(listed).__name__} instead")
        for component in listed:
            if not isinstance(component, Component):
                got = type(component).__name__
                raise PluginError(f"{hook}() must return a list of Component. Got a list with {got} instead")
            if component.name in taken:
                raise PluginError(
                    f"{hook}() gives the name {component.name!r}, which entry point "
                    f"{taken[component.name].entry!r} of the same package already gives"
                )
            if component.name in (c.name for c in components):
                raise PluginError(f"{hook}() gives the name {component.name!r} twice")
            components.append(component)
    return components
