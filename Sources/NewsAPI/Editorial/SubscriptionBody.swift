import HTTPEdge
import News
import NewsStore

/// The body of an editor's write of a subscription.
struct SubscriptionBody {
  let content: SubscriptionContent

  /// Reads a body and checks the rule of each field.
  ///
  /// - Throws: `ProblemError`, 422, which names the invalid fields.
  init(_ fields: [String: JSONValue]) throws {
    var reader = FieldReader(fields)
    reader.ignore("id", "lastError", "lastSuccess", "losses", "nextPoll", "revision", "websub")
    let address = reader.credentialAddress("url")
    let (givenUser, givenPassword) = (reader.string("user"), reader.string("password"))
    // A new address may have others than the members that it is patched into.
    let (user, password) = (address.user ?? givenUser, address.password ?? givenPassword)
    for (field, rule) in SubscriptionContent.brokenRules(user: user, password: password) { reader.refuse(field, rule) }
    content = SubscriptionContent(
      url: address.text, title: reader.text("title", maximumBytes: 1024), topics: reader.topics(),
      state: reader.choice("state", rule: "must be draft or published") ?? .published,
      language: reader.language("language"), paused: reader.bool("paused") ?? false,
      user: user, password: password)
    reader.finish()
    guard reader.errors.isEmpty else { throw ProblemError.invalidFields(reader.errors.list) }
  }
}
