UPDATE loadctl.load_ledger SET compared_timeline = @none
