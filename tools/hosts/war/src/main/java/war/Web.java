package war;

import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import program.Main;
import program.Places;

/** Creates the executors when the application is deployed, looks at each place in each request, and closes them. */
@WebServlet("/places")
@WebListener
public class Web extends HttpServlet implements ServletContextListener {

    @Override
    public void contextInitialized(ServletContextEvent event) {
        event.getServletContext().setAttribute("places", new Places());
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Places places = (Places) getServletContext().getAttribute("places");
        try {
            Map<String, String> found = places.visit(Main::whatIsFound);
            response.getWriter().print(Main.report(found));
        } catch (Exception failure) {
            throw new IOException(failure);
        }
    }

    @Override
    public void contextDestroyed(ServletContextEvent event) {
        ((Places) event.getServletContext().getAttribute("places")).close();
    }
}
