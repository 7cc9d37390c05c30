/// The probable meaning of a tag that has no attributes and no partner.
enum TagMeaning {
  /// The tag may stand alone in HTML, as `<p>` and `<br>`.
  case markup
  /// The end of the element was forgotten or cut off, unless the tag stands in a sentence.
  case formatting
  /// A sentence names the tag: it would be useless, or no element has this name.
  case word

  init(of name: String) {
    if Self.alone.contains(name) || name.contains(":") {
      self = .markup
    } else {
      self = Self.formattingNames.contains(name) ? .formatting : .word
    }
  }

  /// Whether an element has text only (HTML Standard section 13.1.2), so that tags inside are words.
  static func holdsText(_ name: String) -> Bool {
    ["script", "style", "textarea", "title", "xmp"].contains(name)
  }

  private static func names(_ list: String) -> Set<String> { Set(list.split(separator: " ").map(String.init)) }

  /// Elements whose end tag may be omitted or that never have one, and those of formulas and drawings without attributes.
  private static let alone = names(
    """
    basefont body br caption col colgroup dd defs dt g head hr html li malignmark mi mn mo mprescripts mrow mspace mtd \
    mtext mtr none optgroup option p rb rp rt rtc stop tbody td tfoot th thead tr wbr
    """)

  private static let formattingNames = names(
    """
    a abbr acronym address article aside b bdi bdo big blink blockquote center cite code del details dfn dir div dl em \
    fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hgroup i ins kbd label legend listing main \
    mark marquee menu nav nobr ol picture pre q ruby s samp search section small span strike strong sub summary sup \
    table time tt u ul var
    """)
}
