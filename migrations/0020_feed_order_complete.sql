-- The migration before has used these, and would need them again if it were repeated.
DROP PROCEDURE number_publications();
DROP TABLE publications_to_number;
