package io.swagger.annotations;

/** Stands for the annotation of Swagger 1.5, which Debian does not have. */
public @interface ApiModelProperty {
  String value() default "";
  String example() default "";
  boolean required() default false;
}
