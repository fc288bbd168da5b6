"""Members of tenants: what a person may do, and a hook for single sign-on. docs/roles.md says who may do what."""

from tasks_app.core.roles import Right, Rights, Role
from tasks_app.engine.operations.members import rights_of, set_memberships

__all__ = ["Right", "Rights", "Role", "rights_of", "roles_of_groups", "set_memberships"]


def roles_of_groups(groups: object, meaning: dict[str, tuple[str, str]]) -> dict[str, Role]:
    """The roles that these groups of a directory stand for, by tenant: `meaning` says what each does.

    Of several groups for one tenant, the one with the most rights counts. Groups that mean nothing here are left out.
    """
    found: dict[str, Role] = {}
    for group in groups if isinstance(groups, list | tuple | set | frozenset) else ():
        if isinstance(group, str) and group in meaning:
            tenant, role = meaning[group][0], Role(meaning[group][1])
            if tenant not in found or found[tenant].rights < role.rights:
                found[tenant] = role
    return found
