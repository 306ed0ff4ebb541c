package scalograph.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** One task of the workload, again and again, with a pause before each: as many JVMs as forks, one pool in each. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(5)
@Warmup(iterations = 1000)
@Measurement(iterations = 100)
public class ForkJoinBench {
    private static final long THINK_NS = 10_000_000;

    @Param("sequential")
    public String version;

    @Param("3000")
    public int n;

    @Param("64")
    public int q;

    @Param("1")
    public int p;

    private Task task;

    @Setup(Level.Trial)
    public void begin() throws ReflectiveOperationException {
        task = Task.of(version, n, q, p);
    }

    @Setup(Level.Invocation)
    public void think() {
        task.think(THINK_NS);
    }

    @Benchmark
    public Object shot() {
        return task.shoot();
    }

    @TearDown(Level.Invocation)
    public void check() {
        task.check();
    }
}
