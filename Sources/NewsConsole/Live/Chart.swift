import NewsPages

/// Draws charts as SVG. They are stretched to the width of the page, so their only texts are the title and the
/// description, which are for screen readers. Colours come from the stylesheet.
package enum Chart {
  /// The texts of a chart.
  package struct Label {
    /// The prefix of the ids of the texts, unique within the page.
    var id: String
    /// The subject, such as "Requests per second".
    var title: String
    /// A sentence about the values.
    var description: String

    package init(id: String, title: String, description: String) {
      (self.id, self.title, self.description) = (id, title, description)
    }
  }

  /// A point of a line.
  package struct Point: Equatable {
    /// The position from left (0) to right (1).
    var position: Double
    var value: Double

    package init(position: Double, value: Double) {
      (self.position, self.value) = (position, value)
    }
  }

  /// A line from left to right.
  package struct Line {
    /// The class of the element, which determines the colour and the dashes.
    var style: String
    /// Whether the area below the line is filled.
    var isFilled: Bool
    var points: [Point]

    package init(style: String, isFilled: Bool = false, points: [Point]) {
      (self.style, self.isFilled, self.points) = (style, isFilled, points)
    }
  }

  /// A bar with a part at its bottom.
  package struct Bar {
    var whole: Double
    /// 0...`whole`.
    var part: Double

    package init(whole: Double, part: Double) {
      (self.whole, self.part) = (whole, part)
    }
  }

  private static let width = 600.0
  private static let height = 160.0
  /// The share of a bar in its space.
  private static let barWidth = 0.7

  /// Returns the upper end of an axis: the smallest number of the form 1, 2 or 5 times a power of ten that is not below
  /// any of the values, at least 1.
  package static func top(of values: some Sequence<Double>) -> Double {
    let most = values.filter { $0.isFinite }.max() ?? 0
    var power = 1.0
    while power < 1e15 {
      for factor in [1.0, 2, 5] where most <= factor * power { return factor * power }
      power *= 10
    }
    return power
  }

  /// Draws lines in one picture. A line with fewer than two points is omitted.
  ///
  /// - Parameter top: The upper end of the axis, greater than 0.
  package static func lines(_ lines: [Line], upTo top: Double, _ label: Label) -> String {
    let paths = lines.filter { $0.points.count > 1 }.map { line in
      let points = line.points.map { point in
        "\(number(limited(point.position, to: 1) * width)) \(number(y(of: point.value, top)))"
      }
      let course = points.joined(separator: "L")
      let start = number(limited(line.points[0].position, to: 1) * width)
      let base = number(height)
      let area = line.isFilled ? "<path class=\"area \(line.style)\" d=\"M\(start) \(base)L\(course)V\(base)Z\"/>" : ""
      return "\(area)<path class=\"line \(line.style)\" d=\"M\(course)\"/>"
    }
    return picture(paths.joined(), label)
  }

  /// Draws bars from left to right.
  ///
  /// - Parameter top: The upper end of the axis, greater than 0.
  package static func bars(_ bars: [Bar], upTo top: Double, _ label: Label) -> String {
    let step = width / Double(max(1, bars.count))
    let shapes = bars.enumerated().map { index, bar in
      let left = step * (Double(index) + (1 - barWidth) / 2)
      return rectangle("whole", left, step * barWidth, bar.whole, top)
        + rectangle("part", left, step * barWidth, min(bar.part, bar.whole), top)
    }
    return picture(shapes.joined(), label)
  }

  private static func rectangle(
    _ style: String, _ left: Double, _ width: Double, _ value: Double, _ top: Double
  ) -> String {
    let y = y(of: value, top)
    guard y < height else { return "" }
    return "<rect class=\"bar \(style)\" x=\"\(number(left))\" y=\"\(number(y))\" "
      + "width=\"\(number(width))\" height=\"\(number(height - y))\"/>"
  }

  private static func picture(_ content: String, _ label: Label) -> String {
    let grid = [0.25, 0.5, 0.75].map { "M0 \(number(height * $0))H\(number(width))" }.joined()
    let (title, description) = (HTMLText.escaped(label.title), HTMLText.escaped(label.description))
    return "<svg class=\"plot\" viewBox=\"0 0 \(number(width)) \(number(height))\" preserveAspectRatio=\"none\" "
      + "role=\"img\" aria-labelledby=\"\(label.id)-title \(label.id)-text\">"
      + "<title id=\"\(label.id)-title\">\(title)</title><desc id=\"\(label.id)-text\">\(description)</desc>"
      + "<path class=\"scale\" d=\"\(grid)\"/>\(content)</svg>"
  }

  private static func y(of value: Double, _ top: Double) -> Double { height * (1 - limited(value / top, to: 1)) }

  /// A number within 0...`maximum`; 0 for one that is not finite.
  private static func limited(_ value: Double, to maximum: Double) -> Double {
    value.isFinite ? min(max(0, value), maximum) : 0
  }

  /// A number with at most one decimal, as SVG has it.
  private static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
