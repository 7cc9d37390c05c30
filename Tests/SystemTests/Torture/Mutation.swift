/// A change of the schema that breaks a promise, to test that the tests detect it.
struct Mutation: Sendable {
  /// Statements that may call `mutate(function, old, new)`.
  let script: String

  /// Creates a function that replaces a piece of another function's text, which must be present.
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
