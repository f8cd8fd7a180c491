SELECT rolsuper AS superuser, pg_has_role(oid, current_user, 'MEMBER') AS owner FROM pg_roles WHERE rolname = @role
