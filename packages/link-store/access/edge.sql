-- An edge looks links up, adds rows of the audit, and shares the day's salt. By hand: psql -v role=NAME -f edge.sql
GRANT SELECT ON links, domains, changes TO :"role";
GRANT SELECT (id, audit) ON workspaces TO :"role";
GRANT INSERT ON click_audit TO :"role";
-- Which of its late rows are there.
GRANT SELECT (event_id) ON click_audit TO :"role";
GRANT SELECT, INSERT, DELETE ON visitor_salts TO :"role";
