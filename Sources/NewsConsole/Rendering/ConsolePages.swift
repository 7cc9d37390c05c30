import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import NIOCore
import News
import NewsAPI
import NewsPages
import NewsStore

/// Renders the pages of the console.
struct ConsolePages: Sendable {
  /// The parts of the console, as its navigation has them.
  enum Section: String, CaseIterable {
    case items, files, topics, pushes, subscriptions, webhooks, live, keys, sessions

    var path: String {
      switch self {
      case .items: ConsolePath.items
      case .files: ConsolePath.files
      case .topics: ConsolePath.topics
      case .pushes: ConsolePath.pushes
      case .subscriptions: ConsolePath.subscriptions
      case .webhooks: ConsolePath.webhooks
      case .live: ConsolePath.live
      case .keys: ConsolePath.keys
      case .sessions: ConsolePath.sessions
      }
    }

    /// The permissions of which a key needs one; none for any key.
    var permissions: [APIKey.Permission] {
      switch self {
      case .items, .topics: [.itemsWrite]
      case .files: [.itemsWrite, .mediaWrite]
      case .pushes: [.pushSend]
      case .subscriptions, .webhooks, .keys: [.admin]
      case .live, .sessions: []
      }
    }

    /// The sections that a key may open.
    static func all(for visit: ConsoleVisit) -> [Section] { allCases.filter { visit.allows(oneOf: $0.permissions) } }
  }

  let site: PageSite
  let texts: TextCatalogue
  let assets: PageAssets
  /// The texts of the pages for readers, which have the names of months.
  let readerTexts: TextCatalogue
  private let templates: TemplateSet
  private let hasReaderPages: Bool

  /// - Parameter hasReaderPages: Whether the server has pages for readers.
  init(_ site: PageSite, hasReaderPages: Bool) {
    (self.site, self.hasReaderPages) = (site, hasReaderPages)
    texts = TextCatalogue(site.language, in: embeddedTexts)
    readerTexts = TextCatalogue(site.language)
    assets = PageAssets(embeddedAssets)
    // The templates are part of the program, and tests render each of them.
    templates = try! TemplateSet(embeddedTemplates)
  }

  /// Returns the address of a path of this server.
  func link(_ path: String) -> String { site.link(path) }

  /// Renders a page.
  ///
  /// - Parameters:
  ///   - template: The name of the template.
  ///   - title: The title of the document and the heading.
  ///   - visit: The session; nil for pages without navigation.
  ///   - section: The part of the console to which the page belongs.
  func page(
    _ template: String, title: String, status: HTTPResponse.Status = .ok, for visit: ConsoleVisit? = nil,
    in section: Section? = nil, headers: HTTPFields = [:], _ values: PageValues
  ) -> Response {
    html(
      document(template, title: title, for: visit, in: section, values), status: status, for: visit, headers: headers)
  }

  /// Renders the text of a page. The parameters are those of `page`.
  func document(
    _ template: String, title: String, for visit: ConsoleVisit? = nil, in section: Section? = nil, _ values: PageValues
  ) -> String {
    var values = values
    values.set("t", texts.texts)
    values.set("language", site.language.tag)
    values.set("siteName", site.name)
    let tab = values.members["problem"] == nil ? title : texts.text("title-of-error", ["title": title])
    values.set("documentTitle", "\(tab) – \(site.name)")
    values.set("heading", title)
    values.set("stylesheet", link(ConsolePath.asset(named: assets.name(of: "console.css"))))
    values.set("script", link(ConsolePath.asset(named: assets.name(of: "console.js"))))
    values.set("icon", link(ConsolePath.asset(named: assets.name(of: "icon.svg"))))
    values.set("home", link(ConsolePath.root))
    if let visit {
      values.set("csrf", visit.formToken.masked())
      values.set("isSignedIn", true)
      values.set("keyName", visit.key.name)
      values.set("signOut", link(ConsolePath.signOut))
      values.set("readerSite", hasReaderPages ? link("/") : nil)
      values.set("sections", Section.all(for: visit).map { self.values(of: $0, isCurrent: $0 == section) })
    }
    return templates.render(template, values)
  }

  /// Renders a part of a page, without the head and the foot.
  func part(_ template: String, _ values: PageValues) -> String {
    var values = values
    values.set("t", texts.texts)
    return templates.render(template, values)
  }

  private func values(of section: Section, isCurrent: Bool) -> PageValues {
    var values = PageValues()
    values.set("sectionLink", link(section.path))
    values.set("sectionTitle", texts.text("section-\(section.rawValue)"))
    values.set("isCurrentSection", isCurrent)
    return values
  }

  /// Returns a response with HTML, compressed if the visit allows it.
  func html(
    _ text: String, status: HTTPResponse.Status = .ok, for visit: ConsoleVisit? = nil, headers: HTTPFields = [:]
  ) -> Response {
    var fields = ConsoleHeaders.page
    for field in headers { fields.append(field) }
    var body = ByteBuffer(string: text)
    if visit?.acceptsGzip ?? false {
      body = Gzip.compress(body)
      fields[.contentEncoding] = "gzip"
    }
    return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: body))
  }

  /// Returns the answer to a form that was accepted: the browser reads another page.
  ///
  /// - Parameters:
  ///   - path: The path and query of the page.
  ///   - notice: The key of a sentence about what has happened; nil for none.
  func redirect(to path: String, notice: Notice? = nil, headers: HTTPFields = [:]) -> Response {
    var fields = ConsoleHeaders.common
    for field in headers { fields.append(field) }
    let sentence = notice.map { "\(path.contains("?") ? "&" : "?")\(Notice.parameter)=\($0.rawValue)" }
    fields[.location] = link(path + (sentence ?? ""))
    return Response(status: .seeOther, headers: fields)
  }

  /// Returns the answer to someone who asks for a page without a session.
  func signInRedirect(from request: Request) -> Response {
    guard let target = ReturnTarget(request.uri.string), target.target != ConsolePath.items else {
      return redirect(to: ConsolePath.signIn)
    }
    let value = target.target.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return redirect(to: "\(ConsolePath.signIn)?\(ReturnTarget.field)=\(value)")
  }

  /// Returns a date as pages show it, in UTC.
  func date(_ date: Date) -> PageDate { PageDate(date, readerTexts) }
}

/// The header fields of the console's responses.
enum ConsoleHeaders {
  /// The fields of all responses besides files. No cache stores them; nothing is loaded from elsewhere besides pictures and
  /// recordings of items; no other site can show a page within its own, or open it and keep a reference to it.
  static let common: HTTPFields = [
    .cacheControl: "no-store",
    .contentSecurityPolicy:
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' https:; media-src 'self' https:; "
      + "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    // With `no-referrer`, Chromium sends `Origin: null` with forms.
    .referrerPolicy: "same-origin",
    .crossOriginOpenerPolicy: "same-origin",
    .xContentTypeOptions: "nosniff",
  ]

  static let page: HTTPFields = {
    var fields = common
    fields[.contentType] = "text/html; charset=utf-8"
    return fields
  }()
}

/// A sentence at the top of a page about what has happened.
enum Notice: String, CaseIterable, Sendable {
  case saved
  case sentToReview = "review"
  case scheduled, published, withdrawn, retracted, erased, restored, uploaded
  case sessionEnded = "session-ended"
  case topicSaved = "topic-saved"
  case topicRemoved = "topic-removed"
  case topicMerged = "topic-merged"
  case subscribed
  case subscriptionSaved = "subscription-saved"
  case subscriptionPaused = "subscription-paused"
  case subscriptionResumed = "subscription-resumed"
  case subscriptionRemoved = "subscription-removed"
  case pollRequested = "poll-requested"
  case keyRevoked = "key-revoked"
  case alertRequested = "alert-requested"
  case alertRequestedBefore = "alert-requested-before"
  case webhookSaved = "webhook-saved"
  case webhookPaused = "webhook-paused"
  case webhookResumed = "webhook-resumed"
  case webhookTested = "webhook-tested"
  case webhookReplayed = "webhook-replayed"
  case webhookRemoved = "webhook-removed"

  /// The name of the query parameter.
  static let parameter = "done"

  /// The key of the sentence.
  var textKey: String { "done-\(rawValue)" }
}

extension QueryParameters {
  /// Reads the notice of a page; nil if it has none.
  mutating func notice() -> Notice? { value(Notice.parameter, rule: "must be a notice") { Notice(text: $0) } }
}
