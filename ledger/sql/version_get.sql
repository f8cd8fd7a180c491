SELECT v.version, v.min_binary, l.id FROM loadctl.schema_version v, loadctl.load_ledger l
