/** A table of forecasts, built as text again and again and thrown away; a few bytes tell how much was built. */
final class Page {
    /** What `/health` answers. */
    static final String HEALTHY = "ready\n";

    private static final String[] CITIES = {"Athens", "Bergen", "Cairo", "Dakar", "Essen", "Fargo", "Genoa", "Haifa"};
    private static final int DAYS = 5;

    private final int repeats;

    Page(int repeats) {
        this.repeats = repeats;
    }

    /** The answer; it depends on every table, so that no compiler leaves one out. */
    String answer() {
        long characters = 0;
        for (int i = 0; i < repeats; i++) {
            characters += table(i).length();
        }
        return repeats + " tables, " + characters + " characters\n";
    }

    private static String table(int seed) {
        StringBuilder text = new StringBuilder("<table>");
        for (int city = 0; city < CITIES.length; city++) {
            text.append("<tr><th>").append(CITIES[city]).append("</th>");
            for (int day = 0; day < DAYS; day++) {
                // Two digits whatever the seed, so that the answer is known.
                text.append("<td>").append(10 + (seed * 31 + city * 7 + day * 3) % 30).append("</td>");
            }
            text.append("</tr>");
        }
        return text.append("</table>").toString();
    }
}
