/// A change of the schema that breaks a promise, to see that it is found out.
struct Mutation: Sendable {
  /// Statements that may call `mutate(function, old, new)`.
  let script: String

  /// Replaces a piece of a function's text, which must be there.
  private static let helper = """
    CREATE FUNCTION mutate(name text, old text, new text) RETURNS void LANGUAGE plpgsql AS $helper$
    DECLARE
      definition text := pg_get_functiondef(name::regprocedure);
    BEGIN
      IF strpos(definition, old) = 0 THEN RAISE EXCEPTION '% does not have: %', name, old; END IF;
      EXECUTE replace(definition, old, new);
    END
    $helper$;

    """

  var statements: String { Self.helper + script }
}
