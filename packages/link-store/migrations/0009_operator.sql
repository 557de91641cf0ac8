-- Whom the operator is told through, whose address is in a dispatcher's configuration: what waits for it waits here.
INSERT INTO delivery_targets (target, workspace_id, sendable) VALUES ('ep_0', 0, true);
