import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.lucene.analysis.core.KeywordAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.MatchingQueries;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;

/** Filters as stored queries of Lucene's Monitor. Arguments: a folder with "subscriptions" and "events", seconds. */
public class Stored {
    private static final int PASSES = 3, AT_ONCE = 10_000;

    public static void main(String[] arguments) throws Exception {
        long start = System.nanoTime();
        Monitor monitor = new Monitor(new KeywordAnalyzer());
        List<MonitorQuery> waiting = new ArrayList<>();
        int count = 0;
        for (String line : Files.readAllLines(Path.of(arguments[0], "subscriptions"))) {
            waiting.add(new MonitorQuery(Integer.toString(count++), query(line)));
            if (waiting.size() == AT_ONCE) {
                monitor.register(waiting);
                waiting.clear();
            }
        }
        monitor.register(waiting);
        List<String> events = Files.readAllLines(Path.of(arguments[0], "events"));
        double ready = (System.nanoTime() - start) / 1e9;
        long end = System.nanoTime() + (long) (Double.parseDouble(arguments[1]) * 1e9);
        List<Double> fastest = new ArrayList<>();
        List<String> found = new ArrayList<>();
        for (int pass = 0; pass < PASSES; pass++) {
            for (int place = 0; place < events.size() && System.nanoTime() < end; place++) {
                long began = System.nanoTime();
                MatchingQueries<QueryMatch> matches = monitor.match(document(events.get(place)), QueryMatch.SIMPLE_MATCHER);
                double spent = (System.nanoTime() - began) / 1e9;
                if (pass == 0) {
                    fastest.add(spent);
                    found.add(numbers(matches));
                } else {
                    fastest.set(place, Math.min(fastest.get(place), spent));
                }
            }
        }
        monitor.close();
        System.out.println(ready);
        for (int place = 0; place < found.size(); place++) {
            System.out.println(fastest.get(place) + found.get(place));
        }
    }

    private static Query query(String line) {
        BooleanQuery.Builder all = new BooleanQuery.Builder();
        for (String test : line.split("\t")) {
            String[] parts = test.split(" ");
            all.add(one("a" + parts[0], parts[1], parts[2]), BooleanClause.Occur.MUST);
        }
        return all.build();
    }

    private static Query one(String field, String operator, String operand) {
        if (operator.equals("strstarts")) {
            return new PrefixQuery(new Term(field, operand));
        }
        if (Character.isLetter(operand.charAt(0))) {
            return new TermQuery(new Term(field, operand));
        }
        int value = Integer.parseInt(operand);
        int low = operator.equals("<=") ? Integer.MIN_VALUE : value;
        int high = operator.equals(">=") ? Integer.MAX_VALUE : value;
        return IntPoint.newRangeQuery(field, low, high);
    }

    private static Document document(String line) {
        Document document = new Document();
        String[] values = line.split("\t");
        for (int number = 0; number < values.length; number++) {
            boolean word = Character.isLetter(values[number].charAt(0));
            document.add(word ? new StringField("a" + number, values[number], Field.Store.NO)
                              : new IntPoint("a" + number, Integer.parseInt(values[number])));
        }
        return document;
    }

    private static String numbers(MatchingQueries<QueryMatch> matches) {
        TreeSet<Integer> sorted = new TreeSet<>();
        for (QueryMatch match : matches.getMatches()) {
            sorted.add(Integer.parseInt(match.getQueryId()));
        }
        StringBuilder told = new StringBuilder();
        sorted.forEach(number -> told.append(' ').append(number));
        return told.toString();
    }
}
