import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.jena.query.Query;
import org.apache.jena.query.QueryExecution;
import org.apache.jena.query.QueryFactory;
import org.apache.jena.rdf.model.Model;
import org.apache.jena.rdf.model.ModelFactory;
import org.apache.jena.riot.Lang;
import org.apache.jena.riot.RDFDataMgr;

/** One ASK for each subscription in Apache Jena. Arguments: a folder with "subscriptions" and "events", seconds. */
public class Asks {
    private static final int PASSES = 3;

    public static void main(String[] arguments) throws Exception {
        long start = System.nanoTime();
        List<Query> queries = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(arguments[0], "subscriptions"))) {
            queries.add(QueryFactory.create(line));
        }
        String[] events = Files.readString(Path.of(arguments[0], "events")).split("\n\n");
        double ready = (System.nanoTime() - start) / 1e9;
        long end = System.nanoTime() + (long) (Double.parseDouble(arguments[1]) * 1e9);
        List<Double> fastest = new ArrayList<>();
        List<String> found = new ArrayList<>();
        for (int pass = 0; pass < PASSES; pass++) {
            for (int place = 0; place < events.length; place++) {
                long began = System.nanoTime();
                String numbers = match(queries, events[place], end);
                if (numbers == null) {
                    pass = PASSES;
                    break;
                }
                double spent = (System.nanoTime() - began) / 1e9;
                if (pass == 0) {
                    fastest.add(spent);
                    found.add(numbers);
                } else {
                    fastest.set(place, Math.min(fastest.get(place), spent));
                }
            }
        }
        System.out.println(ready);
        for (int place = 0; place < found.size(); place++) {
            System.out.println(fastest.get(place) + found.get(place));
        }
    }

    /** The numbers of the subscriptions that match, or null if there is no more time. */
    private static String match(List<Query> queries, String event, long end) {
        Model model = ModelFactory.createDefaultModel();
        RDFDataMgr.read(model, new StringReader(event), null, Lang.NTRIPLES);
        StringBuilder numbers = new StringBuilder();
        for (int number = 0; number < queries.size(); number++) {
            if (System.nanoTime() > end) {
                return null;
            }
            try (QueryExecution asked = QueryExecution.create(queries.get(number), model)) {
                if (asked.execAsk()) {
                    numbers.append(' ').append(number);
                }
            }
        }
        return numbers.toString();
    }
}
