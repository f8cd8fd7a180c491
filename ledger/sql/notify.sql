SELECT pg_notify('loadctl', @run)
