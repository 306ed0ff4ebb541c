"""Options that are declared once, in dataclasses, as parameters that typer reads."""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from inspect import Parameter, Signature
from typing import Annotated, Any, get_args, get_type_hints

import typer

from scalograph.questions.asked import Option


def bundled(function: Callable[..., int], *bundles: type) -> Callable[..., int]:
    """Make a function that takes dataclasses one that takes their fields.

    Args:
        function: takes one of each bundle, in order; its docstring is the command's help.
        bundles: dataclasses, whose fields are arguments and options: annotated with `typer.Option`, or with
            the `Option` of a question.
    """

    def command(**given: Any) -> int:
        return function(*(bundle(**{field.name: given[field.name] for field in fields(bundle)}) for bundle in bundles))

    named = {p.name: p for bundle in reversed(bundles) for p in _parameters(bundle)}
    # In their order; a name that two bundles have is declared by the first.
    parameters = [named[name] for name in dict.fromkeys(p.name for bundle in bundles for p in _parameters(bundle))]
    command.__doc__ = function.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


def _parameters(bundle: Any) -> Iterator[Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    for field in fields(bundle):
        default = Parameter.empty if field.default is MISSING else field.default
        kind = _declared(field.name, hints[field.name])
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _declared(name: str, hint: Any) -> Any:
    """The annotation as typer reads it."""
    kind, said = get_args(hint)
    if not isinstance(said, Option):
        return hint
    return Annotated[kind, typer.Option(f"--{name.replace('_', '-')}", **said._asdict())]
