import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.*;
import java.util.concurrent.*;

/**
 * Runs the referees' checks with Oracle's JDBC driver: reads one JSON object from standard input (where to connect, and
 * steps) and prints one JSON object a step. It runs with the driver of 19c too, so it keeps to what that has.
 */
public final class Client {
  /** Milliseconds into a call that the server holds. */
  private static final long CANCEL_AFTER = 300;

  private final Map<String, Object> plan;
  private final Map<Integer, Connection> sessions = new HashMap<>();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(r -> {
    Thread t = new Thread(r, "cancel");
    t.setDaemon(true);
    return t;
  });

  private Client(Map<String, Object> plan) {
    this.plan = plan;
  }

  public static void main(String[] args) throws Exception {
    Map<String, Object> plan = map(new Json(new String(System.in.readAllBytes(), StandardCharsets.UTF_8)).value());
    Client client = new Client(plan);
    java.io.PrintStream out = new java.io.PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (Object step : list(plan.get("steps"))) {
      out.println(Json.text(client.run(map(step))));
    }
    for (Connection c : client.sessions.values()) {
      c.close();
    }
  }

  private Connection connect(Map<String, Object> login) throws SQLException {
    String url = "jdbc:oracle:thin:@//" + plan.get("host") + ":" + number(plan.get("port")) + "/" + or(login, "service");
    Properties p = new Properties();
    p.setProperty("user", or(login, "user"));
    p.setProperty("password", or(login, "password"));
    p.setProperty("oracle.jdbc.implicitStatementCacheSize", "20");
    Connection c = DriverManager.getConnection(url, p);
    c.setAutoCommit(false);
    return c;
  }

  private String or(Map<String, Object> login, String key) {
    Object v = login.get(key);
    return (String) (v == null ? plan.get(key) : v);
  }

  private Connection session(Map<String, Object> step) throws SQLException {
    return session(number(step.get("session")));
  }

  private Connection session(int number) throws SQLException {
    Connection c = sessions.get(number);
    if (c == null) {
      c = connect(Map.of());
      sessions.put(number, c);
    }
    return c;
  }

  private Map<String, Object> run(Map<String, Object> step) throws Exception {
    Map<String, Object> out = new HashMap<>();
    try {
      switch ((String) step.get("do")) {
        case "query": query(step, out); break;
        case "exec": exec(step, out); break;
        case "batch": batch(step, out); break;
        case "commit": session(step).commit(); break;
        case "rollback": session(step).rollback(); break;
        case "login": connect(step).close(); break;
        case "sessions_in_turn": sessionsInTurn(step, out); break;
        case "interleave": interleave(step, out); break;
        default: throw new IllegalArgumentException("unknown step " + step.get("do"));
      }
    } catch (SQLException e) {
      out.put("error", e.getErrorCode());
      out.put("message", String.valueOf(e.getMessage()));
      out.put("position", -1);
    }
    return out;
  }

  private void query(Map<String, Object> step, Map<String, Object> out) throws Exception {
    List<Object> rows = new ArrayList<>();
    out.put("rows", rows);
    boolean locator = Boolean.TRUE.equals(step.get("locator"));
    try (PreparedStatement s = session(step).prepareStatement((String) step.get("sql"))) {
      s.setFetchSize(step.get("fetch") == null ? 100 : number(step.get("fetch")));
      bind(s, step.get("binds"));
      Future<?> cancel = null;
      if (Boolean.TRUE.equals(step.get("cancel"))) {
        cancel = timer.scheduleAtFixedRate(() -> cancel(s), CANCEL_AFTER, CANCEL_AFTER, TimeUnit.MILLISECONDS);
      }
      try (ResultSet r = s.executeQuery()) {
        out.put("columns", names(r));
        while (r.next()) {
          rows.add(row(r, locator));
        }
      } finally {
        if (cancel != null) {
          cancel.cancel(false);
        }
      }
    }
  }

  /** Again and again, since a cancel that comes before the call is for nothing. */
  private static void cancel(Statement s) {
    try {
      s.cancel();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private void exec(Map<String, Object> step, Map<String, Object> out) throws SQLException {
    try (PreparedStatement s = session(step).prepareStatement((String) step.get("sql"))) {
      bind(s, step.get("binds"));
      out.put("affected", s.executeUpdate());
    }
  }

  private void batch(Map<String, Object> step, Map<String, Object> out) throws SQLException {
    try (PreparedStatement s = session(step).prepareStatement((String) step.get("sql"))) {
      for (Object row : list(step.get("rows"))) {
        bind(s, row);
        s.addBatch();
      }
      int total = 0;
      for (int n : s.executeBatch()) {
        total += n;
      }
      out.put("affected", total);
      out.put("errors", List.of());
    }
  }

  private void sessionsInTurn(Map<String, Object> step, Map<String, Object> out) throws SQLException {
    int total = 0;
    for (int i = 0; i < number(step.get("count")); i++) {
      try (Connection c = connect(Map.of()); Statement s = c.createStatement();
          ResultSet r = s.executeQuery((String) step.get("sql"))) {
        r.next();
        total += r.getInt(1);
      }
    }
    out.put("affected", total);
  }

  private void interleave(Map<String, Object> step, Map<String, Object> out) throws SQLException {
    List<Object> rows = new ArrayList<>();
    out.put("rows", rows);
    try (Statement a = session(0).createStatement(); Statement b = session(1).createStatement()) {
      a.setFetchSize(number(step.get("fetch")));
      b.setFetchSize(number(step.get("fetch")));
      try (ResultSet x = a.executeQuery((String) step.get("sql")); ResultSet y = b.executeQuery((String) step.get("sql"))) {
        while (x.next() & y.next()) {
          List<Object> both = new ArrayList<>(row(x, false));
          both.addAll(row(y, false));
          rows.add(both);
        }
      }
    }
  }

  private static void bind(PreparedStatement s, Object binds) throws SQLException {
    int i = 0;
    for (Object b : binds == null ? List.of() : list(binds)) {
      i++;
      String v = (String) map(b).get("value");
      switch ((String) map(b).get("type")) {
        case "number": s.setBigDecimal(i, v == null ? null : new BigDecimal(v)); break;
        case "date": s.setTimestamp(i, v == null ? null : Timestamp.valueOf(LocalDateTime.parse(v.replace(' ', 'T')))); break;
        case "raw": s.setBytes(i, v == null ? null : unhex(v)); break;
        default: s.setString(i, v);
      }
    }
  }

  private static List<Object> names(ResultSet r) throws SQLException {
    List<Object> names = new ArrayList<>();
    for (int i = 1; i <= r.getMetaData().getColumnCount(); i++) {
      names.add(r.getMetaData().getColumnName(i));
    }
    return names;
  }

  private static List<Object> row(ResultSet r, boolean locator) throws SQLException {
    ResultSetMetaData meta = r.getMetaData();
    List<Object> row = new ArrayList<>(meta.getColumnCount());
    for (int i = 1; i <= meta.getColumnCount(); i++) {
      row.add(cell(r, i, meta.getColumnTypeName(i), locator));
    }
    return row;
  }

  private static String cell(ResultSet r, int i, String type, boolean locator) throws SQLException {
    if (type.startsWith("TIMESTAMP") && type.contains("ZONE")) {
      return plain(r.getObject(i, OffsetDateTime.class));
    }
    switch (type) {
      case "NUMBER": {
        BigDecimal n = r.getBigDecimal(i);
        return n == null ? null : n.toPlainString();
      }
      case "BINARY_FLOAT": {
        float f = r.getFloat(i);
        return r.wasNull() ? null : Float.toString(f);
      }
      case "BINARY_DOUBLE": {
        double d = r.getDouble(i);
        return r.wasNull() ? null : Double.toString(d);
      }
      case "RAW":
      case "LONG RAW":
        return hex(r.getBytes(i));
      case "CLOB":
      case "NCLOB": {
        if (!locator) {
          return r.getString(i);
        }
        Clob c = r.getClob(i);
        return c == null ? null : c.length() == 0 ? "" : c.getSubString(1, (int) c.length());
      }
      case "BLOB": {
        if (!locator) {
          return hex(r.getBytes(i));
        }
        Blob b = r.getBlob(i);
        return b == null ? null : hex(b.getBytes(1, (int) b.length()));
      }
    }
    if (type.equals("DATE") || type.startsWith("TIMESTAMP")) {
      return plain(r.getObject(i, LocalDateTime.class));
    }
    return r.getString(i);
  }

  private static String plain(Object time) {
    return time == null ? null : time.toString().replace('T', ' ');
  }

  private static String hex(byte[] b) {
    if (b == null) {
      return null;
    }
    StringBuilder s = new StringBuilder(b.length * 2);
    for (byte x : b) {
      s.append(Character.forDigit(x >> 4 & 15, 16)).append(Character.forDigit(x & 15, 16));
    }
    return s.toString().toUpperCase(Locale.ROOT);
  }

  private static byte[] unhex(String s) {
    byte[] b = new byte[s.length() / 2];
    for (int i = 0; i < b.length; i++) {
      b[i] = (byte) Integer.parseInt(s.substring(2 * i, 2 * i + 2), 16);
    }
    return b;
  }

  private static int number(Object v) {
    return ((BigDecimal) v).intValue();
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(Object v) {
    return (Map<String, Object>) v;
  }

  @SuppressWarnings("unchecked")
  private static List<Object> list(Object v) {
    return (List<Object>) v;
  }
}

/** As much JSON as the checks need: the JDK has none. */
final class Json {
  private final String s;
  private int at;

  Json(String s) {
    this.s = s;
  }

  Object value() {
    blanks();
    char c = s.charAt(at);
    switch (c) {
      case '{': return object();
      case '[': return array();
      case '"': return string();
      case 't': at += 4; return true;
      case 'f': at += 5; return false;
      case 'n': at += 4; return null;
    }
    int from = at;
    while (at < s.length() && "+-.eE0123456789".indexOf(s.charAt(at)) >= 0) {
      at++;
    }
    return new BigDecimal(s.substring(from, at));
  }

  private Map<String, Object> object() {
    Map<String, Object> m = new HashMap<>();
    for (open(); s.charAt(at) != '}'; separator()) {
      String key = string();
      blanks();
      at++; // the colon
      m.put(key, value());
    }
    at++;
    return m;
  }

  private List<Object> array() {
    List<Object> list = new ArrayList<>();
    for (open(); s.charAt(at) != ']'; separator()) {
      list.add(value());
    }
    at++;
    return list;
  }

  private void open() {
    at++;
    blanks();
  }

  private void separator() {
    blanks();
    if (s.charAt(at) == ',') {
      open();
    }
  }

  private void blanks() {
    while (Character.isWhitespace(s.charAt(at))) {
      at++;
    }
  }

  private String string() {
    StringBuilder b = new StringBuilder();
    for (at++; s.charAt(at) != '"'; at++) {
      char c = s.charAt(at);
      if (c == '\\') {
        c = s.charAt(++at);
        int plain = "nrtbf".indexOf(c);
        if (c == 'u') {
          c = (char) Integer.parseInt(s.substring(at + 1, at + 5), 16);
          at += 4;
        } else if (plain >= 0) {
          c = "\n\r\t\b\f".charAt(plain);
        }
      }
      b.append(c);
    }
    at++;
    return b.toString();
  }

  static String text(Object v) {
    StringBuilder b = new StringBuilder();
    write(b, v);
    return b.toString();
  }

  private static void write(StringBuilder b, Object v) {
    if (v instanceof Map) {
      String sep = "{";
      for (Map.Entry<?, ?> e : ((Map<?, ?>) v).entrySet()) {
        b.append(sep);
        write(b, e.getKey());
        b.append(':');
        write(b, e.getValue());
        sep = ",";
      }
      b.append(sep.equals("{") ? "{}" : "}");
    } else if (v instanceof List) {
      b.append('[');
      String sep = "";
      for (Object x : (List<?>) v) {
        b.append(sep);
        write(b, x);
        sep = ",";
      }
      b.append(']');
    } else if (v instanceof String) {
      quote(b, (String) v);
    } else {
      b.append(v);
    }
  }

  private static void quote(StringBuilder b, String s) {
    b.append('"');
    for (char c : s.toCharArray()) {
      if (c < ' ' || c == '"' || c == '\\' || c > '~') {
        b.append(String.format("\\u%04x", (int) c));
      } else {
        b.append(c);
      }
    }
    b.append('"');
  }
}
