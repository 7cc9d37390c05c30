import Foundation

/// A chart of a day as SVG: the requests per second and the processors in use, of each tier. Its colours suit light and dark
/// pages.
///
///     try FleetChart(title: "1 million phones", bill).svg.write(to: file, atomically: true, encoding: .utf8)
public struct FleetChart {
  private let title: String
  private let panels: [ChartPanel]
  private let note: String

  /// The number of points of a line: one for five minutes.
  private static let points = 288

  /// - Parameters:
  ///   - title: The title.
  ///   - bill: The counts of the day with their prices.
  public init(title: String, _ bill: FleetBill) {
    self.title = title
    let counts = bill.counts
    let seconds = Double(counts.notModified.seconds.count) / Double(Self.points)
    func rates(_ sums: [Double]) -> [Double] { sums.map { $0 / seconds } }
    let requests = [Tier.edge, .proxy, .server].map { tier in
      ChartPanel.Line(
        tier: tier, values: rates((counts.requests[tier]?.seconds ?? []).sums(of: Self.points)),
        label: "\(Figure.short(counts.requests(tier))) requests")
    }
    let processors = Tier.allCases.map { tier in
      ChartPanel.Line(
        tier: tier, values: rates(bill.processorSeconds(tier, parts: Self.points)),
        label: "\(Figure.short(bill.processorSeconds(tier) / 3600)) processor hours")
    }
    panels = [
      ChartPanel(title: "Requests per second", lines: requests, top: 76),
      ChartPanel(title: "Processors in use", lines: processors, top: 330),
    ]
    note = "Means of five minutes. Each line of the grid is ten times the one below."
  }

  /// The text of the file.
  public var svg: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 590" role="img" aria-labelledby="title">
    <title id="title">\(Self.escaped(title)): requests per second and processors in use</title>
    <style>
    svg { background: #fff; font: 14px system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
    text { fill: #222; } .small { font-size: 12px; fill: #555; } .title { font-size: 19px; font-weight: 600; }
    .head { font-weight: 600; } .grid { stroke: #ddd; } .axis { stroke: #888; } .line { fill: none; stroke-width: 2; }
    .edge { stroke: #0067a8; } .proxy { stroke: #b35900; } .server { stroke: #00795a; } .database { stroke: #a8327e; }
    text.edge { fill: #0067a8; } text.proxy { fill: #b35900; } text.server { fill: #00795a; } text.database { fill: #a8327e; }
    text { stroke: none !important; }
    @media (prefers-color-scheme: dark) {
      svg { background: #16181c; } text { fill: #eee; } .small { fill: #aaa; } .grid { stroke: #33373d; } .axis { stroke: #888; }
      .edge { stroke: #62b6f0; } .proxy { stroke: #f0a455; } .server { stroke: #4fd0a5; } .database { stroke: #f08cc8; }
      text.edge { fill: #62b6f0; } text.proxy { fill: #f0a455; } text.server { fill: #4fd0a5; } text.database { fill: #f08cc8; }
    }
    </style>
    <text class="title" x="64" y="34">\(Self.escaped(title))</text>
    \(panels.map(\.svg).joined(separator: "\n"))
    <text class="small" x="64" y="578">\(Self.escaped(note))</text>
    </svg>

    """
  }

  static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }
}

/// A part of the chart: lines over the hours of a day, on a logarithmic scale.
struct ChartPanel {
  struct Line {
    let tier: Tier
    let values: [Double]
    /// The sum over the day.
    let label: String
  }

  let title: String
  let lines: [Line]
  /// The vertical position of the panel.
  let top: Double

  private static let left = 64.0
  private static let width = 700.0
  private static let height = 176.0

  /// The powers of ten at the bottom and at the top.
  private var decades: ClosedRange<Int> {
    let most = lines.flatMap(\.values).max() ?? 1
    let top = Int(log10(max(most, 1e-9)).rounded(.up))
    // Four decades at most, so that small differences remain visible.
    let least = lines.flatMap(\.values).filter { $0 > 0 }.min() ?? 1
    return max(top - 4, min(top - 1, Int(log10(least).rounded(.down))))...top
  }

  private func y(_ value: Double) -> Double {
    let (low, high) = (Double(decades.lowerBound), Double(decades.upperBound))
    let place = min(max(log10(max(value, 1e-12)), low), high)
    return top + 20 + Self.height * (1 - (place - low) / (high - low))
  }

  private static func x(_ share: Double) -> Double { left + width * share }

  var svg: String {
    var parts = [#"<text class="head" x="64" y="\#(format(top + 4))">\#(FleetChart.escaped(title))</text>"#]
    for decade in decades {
      let y = format(y(pow(10, Double(decade))))
      parts.append(#"<line class="grid" x1="64" x2="764" y1="\#(y)" y2="\#(y)"/>"#)
      parts.append(
        #"<text class="small" text-anchor="end" x="58" y="\#(y)" dy="4">\#(Self.number(decade))</text>"#)
    }
    let bottom = top + 20 + Self.height
    for hour in stride(from: 0, through: 24, by: 3) {
      let x = format(Self.x(Double(hour) / 24))
      parts.append(#"<line class="axis" x1="\#(x)" x2="\#(x)" y1="\#(format(bottom))" y2="\#(format(bottom + 5))"/>"#)
      parts.append(
        #"<text class="small" text-anchor="middle" x="\#(x)" y="\#(format(bottom + 20))">\#(hour):00</text>"#)
    }
    parts.append(
      #"<line class="axis" x1="64" x2="764" y1="\#(format(bottom))" y2="\#(format(bottom))"/>"#)
    for line in lines { parts.append(polyline(line)) }
    return (parts + legend).joined(separator: "\n")
  }

  private func polyline(_ line: Line) -> String {
    let points = line.values.enumerated().map { index, value in
      format(Self.x((Double(index) + 0.5) / Double(line.values.count))) + "," + format(y(value))
    }
    return #"<polyline class="line \#(line.tier.rawValue)" points="\#(points.joined(separator: " "))"/>"#
  }

  /// The names of the lines, in the order of their last values, beside their ends.
  private var legend: [String] {
    var next = -Double.infinity
    let ends = lines.map { ($0, y($0.values.last ?? 0)) }.sorted { $0.1 < $1.1 }
    // The last names are moved up where there is no room below.
    let room = top + 2 + Self.height - 34 * Double(ends.count - 1)
    return ends.enumerated().flatMap { index, end in
      let place = max(min(end.1, room + 34 * Double(index)), next)
      next = place + 34
      let name = end.0.tier.rawValue
      return [
        #"<text class="\#(name)" x="774" y="\#(format(place))" dy="4">\#(name)</text>"#,
        #"<text class="small" x="774" y="\#(format(place + 14))" dy="4">\#(FleetChart.escaped(end.0.label))</text>"#,
      ]
    }
  }

  private static func number(_ decade: Int) -> String {
    decade >= 0
      ? Figure.short(pow(10, Double(decade))).replacingOccurrences(of: ".00", with: "")
        .replacingOccurrences(of: ".0", with: "") : String(format: "%.\(-decade)f", pow(10, Double(decade)))
  }

  private func format(_ number: Double) -> String { String(format: "%.1f", number) }
}
