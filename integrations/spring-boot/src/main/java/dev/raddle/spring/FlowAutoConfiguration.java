package dev.raddle.spring;

import dev.raddle.jdbc.FlowService;
import javax.sql.DataSource;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/** Configures a service that keeps runs of flows in a database, from {@code raddle.flows}. */
@AutoConfiguration(
        after = RaddleAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.JndiDataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.XADataSourceAutoConfiguration"
        })
@ConditionalOnClass(FlowService.class)
class FlowAutoConfiguration {

    @Bean
    FlowServices raddleFlowServices(
            RaddleProperties properties, ShutdownTimeout shutdown, ConfigurableListableBeanFactory beans) {
        return new FlowServices(beans, shutdown.forRuns(properties.flows()), shutdown.grace());
    }

    /**
     * Created after migrations of the database, and even if others are created when they are needed: otherwise no
     * run would be executed. Closed before the data source, if the shutdown has not done that.
     */
    @Bean
    @ConditionalOnBooleanProperty(name = "raddle.flows.enabled", matchIfMissing = true)
    @ConditionalOnBean({DataSource.class, FlowRegistration.class})
    @ConditionalOnMissingBean
    @DependsOnDatabaseInitialization
    @Lazy(false)
    FlowService raddleFlowService(
            RaddleProperties properties, ShutdownTimeout shutdown, ConfigurableListableBeanFactory beans) {
        return new FlowServiceFactory(properties.flows(), shutdown.forRuns(properties.flows()), beans).start();
    }
}
